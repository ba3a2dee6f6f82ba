package org.cloister.luks.volume;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The one form of header that {@link Cryptsetup#create} makes, field for field. A header is neither secret nor
 * authenticated: an attacker who can write to the device can change each field of it, so that the next key opens a
 * volume that encrypts nothing. Therefore every field is compared, and a field that is not in this form is rejected.
 */
final class LuksHeaderForm {
    private static final Pattern SLOT = Pattern.compile("keyslots\\.(0|[1-9]\\d?)\\..*");
    private static final Pattern BYTES = Pattern.compile("\"(0|[1-9]\\d{0,9})\"");
    /** 32 bytes in base64. */
    private static final String SALT = "\"[A-Za-z0-9+/]{43}=\"";

    private static final String UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";
    private static final int STRIPES = 4000;
    private static final int BLOCK = 4096;
    private static final int BINARY = 4096;
    private static final int PRINTED = 100;

    private final LuksHeaderFields fields;
    private final VolumeIntegrity integrity;
    private final Map<String, Rule> rules = new LinkedHashMap<>();

    private LuksHeaderForm(LuksHeaderFields fields, VolumeIntegrity integrity) {
        this.fields = fields;
        this.integrity = integrity;
    }

    private record Rule(String expected, Predicate<String> accepts) {}

    /** A difference between a header and the form. */
    record Difference(String expected, String actual) {}

    /**
     * Returns the first difference in the order segments, digests, configuration, key slots; empty if there is none.
     */
    static Optional<Difference> difference(String uuid, LuksHeaderFields fields, VolumeIntegrity integrity) {
        // The UUID is part of the key's name in the kernel's table, where a blank would begin another field.
        if (!uuid.matches(UUID)) {
            return Optional.of(new Difference("a UUID", printable(uuid)));
        }
        return new LuksHeaderForm(fields, integrity).difference();
    }

    private Optional<Difference> difference() {
        Set<Integer> slots = slots();
        segment();
        digest(slots);
        exact("config.json_size", quoted(VolumeCreation.LAYOUT.metadata() - BINARY));
        exact("config.keyslots_size", quoted(VolumeCreation.LAYOUT.keyslots()));
        if (slots.isEmpty()) {
            exact("keyslots", "{}");
        }
        slots.forEach(this::slot);
        for (Map.Entry<String, Rule> each : rules.entrySet()) {
            String actual = fields.values().getOrDefault(each.getKey(), "nothing");
            if (!each.getValue().accepts.test(actual)) {
                return Optional.of(new Difference(each.getKey() + " " + each.getValue().expected, printable(actual)));
            }
        }
        return fields.values().keySet().stream()
                .filter(path -> !rules.containsKey(path))
                .findFirst()
                .map(path -> new Difference(
                        "no field " + path, printable(fields.values().getOrDefault(path, ""))));
    }

    private Set<Integer> slots() {
        Set<Integer> slots = new TreeSet<>();
        for (String path : fields.values().keySet()) {
            Matcher slot = SLOT.matcher(path);
            if (slot.matches()) {
                slots.add(Integer.valueOf(slot.group(1)));
            }
        }
        return slots;
    }

    private void segment() {
        exact("segments.0.type", "\"crypt\"");
        exact("segments.0.encryption", "\"" + VolumeCreation.CIPHER + "\"");
        exact("segments.0.sector_size", Integer.toString(VolumeCreation.SECTOR_SIZE));
        exact("segments.0.offset", quoted(VolumeCreation.LAYOUT.length()));
        exact("segments.0.size", "\"dynamic\"");
        exact("segments.0.iv_tweak", quoted(0));
        if (integrity.specification() != null) {
            exact("segments.0.integrity.type", "\"" + integrity.specification() + "\"");
            exact("segments.0.integrity.journal_encryption", "\"none\"");
            exact("segments.0.integrity.journal_integrity", "\"none\"");
        }
    }

    /** Compares the digest that verifies a volume key; it covers all slots and the segment. */
    private void digest(Set<Integer> slots) {
        String at = "digests.0.";
        exact(at + "type", "\"pbkdf2\"");
        exact(at + "hash", "\"sha256\"");
        exact(at + "iterations", Integer.toString(KeySlotDerivation.ITERATIONS));
        matching(at + "salt", "of 32 bytes", SALT);
        matching(at + "digest", "of 32 bytes", SALT);
        exact(at + "segments[0]", "\"0\"");
        if (slots.isEmpty()) {
            exact(at + "keyslots", "[]");
        }
        Set<String> left = new HashSet<>();
        slots.forEach(slot -> left.add(quoted(slot)));
        for (int i = 0; i < slots.size(); i++) {
            rules.put(
                    at + "keyslots[" + i + "]",
                    new Rule("one of the key slots " + slots + ", each once", left::remove));
        }
    }

    private void slot(int number) {
        String at = "keyslots." + number + ".";
        exact(at + "type", "\"luks2\"");
        exact(at + "key_size", Integer.toString(integrity.volumeKeyLength()));
        exact(at + "af.type", "\"luks1\"");
        exact(at + "af.stripes", Integer.toString(STRIPES));
        exact(at + "af.hash", "\"sha256\"");
        exact(at + "area.type", "\"raw\"");
        exact(at + "area.encryption", "\"" + VolumeCreation.CIPHER + "\"");
        exact(at + "area.key_size", Integer.toString(VolumeIntegrity.NONE.volumeKeyLength()));
        long size = (integrity.volumeKeyLength() * (long) STRIPES + BLOCK - 1) / BLOCK * BLOCK;
        exact(at + "area.size", quoted(size));
        long first = 2 * VolumeCreation.LAYOUT.metadata();
        long last = VolumeCreation.LAYOUT.length() - size;
        rules.put(
                at + "area.offset",
                new Rule(
                        "a multiple of " + BLOCK + " from " + first + " to " + last,
                        actual -> isArea(actual, first, last)));
        derivation(at + "kdf.");
    }

    private void derivation(String at) {
        matching(at + "salt", "of 32 bytes", SALT);
        if (fields.values().getOrDefault(at + "type", "").equals("\"argon2id\"")) {
            exact(at + "type", "\"argon2id\"");
            exact(at + "time", Integer.toString(KeySlotDerivation.PASSES));
            exact(at + "memory", Integer.toString(KeySlotDerivation.MEMORY_KIB));
            // A machine that has fewer CPUs uses fewer.
            matching(at + "cpus", "from 1 to " + KeySlotDerivation.THREADS, "[1-" + KeySlotDerivation.THREADS + "]");
        } else {
            matching(at + "type", "\"pbkdf2\" or \"argon2id\"", "\"pbkdf2\"");
            exact(at + "hash", "\"sha256\"");
            exact(at + "iterations", Integer.toString(KeySlotDerivation.ITERATIONS));
        }
    }

    private static boolean isArea(String actual, long first, long last) {
        Matcher bytes = BYTES.matcher(actual);
        if (!bytes.matches()) {
            return false;
        }
        long offset = Long.parseLong(bytes.group(1));
        return offset % BLOCK == 0 && offset >= first && offset <= last;
    }

    private void exact(String path, String value) {
        rules.put(path, new Rule(value, value::equals));
    }

    private void matching(String path, String expected, String pattern) {
        rules.put(path, new Rule(expected, actual -> actual.matches(pattern)));
    }

    private static String quoted(long number) {
        return "\"" + number + "\"";
    }

    /** Makes text from the device printable, for a message. */
    static String printable(String text) {
        String plain = text.replaceAll("[^ -~]", "?");
        return plain.length() <= PRINTED ? plain : plain.substring(0, PRINTED) + "...";
    }
}
