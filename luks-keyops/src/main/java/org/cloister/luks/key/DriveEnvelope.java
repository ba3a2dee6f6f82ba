package org.cloister.luks.key;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.cloister.base.encoding.LengthPrefixedFields;
import org.cloister.luks.secret.SecretException;
import org.cloister.luks.secret.SecretMemory;

/**
 * A drive key, sealed to each of several recipients. Each recipient's private key opens the drive, so the loss of one
 * private key loses no data. The same JSON is stored beside the drive and as a token in the drive's LUKS2 header;
 * luks-keyops/FORMAT.md describes it. Immutable; changing the envelope touches no data.
 *
 * <p>Removing a recipient does not exclude a person who has read the drive key before or has an old envelope: give the
 * drive a new key then.
 */
public final class DriveEnvelope {
    /** Length of the drive key in bytes. */
    public static final int KEY_LENGTH = 64;

    /** Minimum number of recipients. With fewer, the loss of one private key would lose the drive. */
    public static final int MIN_RECIPIENTS = 2;

    public static final int MAX_RECIPIENTS = 16;

    /** Type of the token in a LUKS2 header. */
    public static final String TYPE = "cloister-envelope";

    private static final String SUBJECT = "drive envelope";
    private static final int VERSION = 1;
    private static final int MAX_KEYSLOTS = 32;
    private static final int SEALED = SealingPublicKey.LENGTH + KEY_LENGTH + AesGcm.TAG;
    private static final byte[] INFO = "cloister drive envelope 1".getBytes(StandardCharsets.US_ASCII);
    private static final Pattern NAME = Pattern.compile("[0-9A-Za-z._-]{1,64}");

    private final String drive;
    private final List<Integer> keyslots;
    private final List<Entry> entries;

    private DriveEnvelope(String drive, List<Integer> keyslots, List<Entry> entries) {
        this.drive = drive;
        this.keyslots = List.copyOf(keyslots);
        this.entries = List.copyOf(entries);
    }

    /** Role of a recipient in the project. A recovery key, kept in a safe, has the role {@code RECOVERY}. */
    public enum Role {
        OWNER,
        OPENER,
        RECOVERY;

        String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * A recipient of the drive key.
     *
     * @param name of 1 to 64 letters, digits, dots, dashes and underlines; unique in an envelope, as is the key
     */
    public record Recipient(String name, Role role, SealingPublicKey key) {
        public Recipient {
            if (!NAME.matcher(name).matches()) {
                throw new IllegalArgumentException(
                        "recipient: want a name of 1 to 64 letters, digits, dots, dashes and underlines, have " + name);
            }
        }
    }

    /** @param sealed in base64 */
    private record Entry(Recipient recipient, String sealed) {}

    /**
     * Seals a drive key to each recipient.
     *
     * @param drive the LUKS header's UUID or another identifier of the drive; has the form of a recipient's name
     * @param key of {@link #KEY_LENGTH} bytes
     */
    public static DriveEnvelope seal(Hpke hpke, String drive, List<Recipient> recipients, SecretMemory key)
            throws KeyException, SecretException {
        if (!NAME.matcher(drive).matches()) {
            throw new IllegalArgumentException("drive envelope: want a drive's name or UUID, have " + drive);
        }
        List<Entry> entries = new ArrayList<>();
        for (Recipient recipient : recipients) {
            entries.add(entry(hpke, drive, recipient, key));
        }
        try {
            return checked(drive, List.of(), entries);
        } catch (KeyException.Malformed e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    /** Parses an envelope from the file beside a drive or from the token in its header. */
    public static DriveEnvelope read(byte[] json) throws KeyException.Malformed {
        KeyFormatJson envelope =
                KeyFormatJson.read(SUBJECT, json).object("type", "keyslots", "version", "drive", "recipients");
        envelope.member("type").requireText(TYPE);
        if (envelope.member("version").number() != VERSION) {
            throw envelope.malformed("version " + VERSION, "another one");
        }
        TreeSet<Integer> keyslots = new TreeSet<>();
        for (KeyFormatJson keyslot : envelope.member("keyslots").array(0, MAX_KEYSLOTS)) {
            String text = keyslot.text();
            if (!text.matches("[0-9]|[12][0-9]|3[01]") || !keyslots.add(Integer.valueOf(text))) {
                throw keyslot.malformed("key slots from 0 to 31, once each", "another");
            }
        }
        String drive = envelope.member("drive").text();
        if (!NAME.matcher(drive).matches()) {
            throw envelope.malformed("a drive's name or UUID", "another text");
        }
        List<Entry> entries = new ArrayList<>();
        for (KeyFormatJson recipient : envelope.member("recipients").array(MIN_RECIPIENTS, MAX_RECIPIENTS)) {
            entries.add(readEntry(recipient.object("name", "role", "key", "sealed")));
        }
        return checked(drive, List.copyOf(keyslots), entries);
    }

    public String drive() {
        return drive;
    }

    /**
     * Returns the header's key slots that the drive key opens, as the token lists them; empty for a file beside the
     * drive.
     */
    public List<Integer> keyslots() {
        return keyslots;
    }

    public List<Recipient> recipients() {
        return entries.stream().map(Entry::recipient).toList();
    }

    /** Returns this envelope as a token for these key slots. */
    public DriveEnvelope forKeyslots(Set<Integer> slots) {
        for (int slot : slots) {
            if (slot < 0 || slot >= MAX_KEYSLOTS) {
                throw new IllegalArgumentException(SUBJECT + ": want key slots from 0 to 31, have " + slot);
            }
        }
        return new DriveEnvelope(drive, List.copyOf(new TreeSet<>(slots)), entries);
    }

    /** Unseals the drive key with the private key of any recipient. */
    public SecretMemory open(Hpke hpke, SealingKey key) throws KeyException, SecretException {
        for (Entry entry : entries) {
            if (entry.recipient().key().equals(key.publicKey())) {
                return hpke.open(
                        key,
                        INFO,
                        additionalData(drive, entry.recipient()),
                        Base64.getDecoder().decode(entry.sealed()));
            }
        }
        throw new KeyException.Refused(
                SUBJECT + " of " + drive,
                "a private key of one of "
                        + entries.stream()
                                .map(entry -> entry.recipient().name())
                                .toList(),
                "take one of theirs");
    }

    /** Returns an envelope with one more recipient. {@link #open} returns the drive key. */
    public DriveEnvelope with(Hpke hpke, Recipient recipient, SecretMemory key) throws KeyException, SecretException {
        List<Entry> more = new ArrayList<>(entries);
        more.add(entry(hpke, drive, recipient, key));
        return checked(drive, keyslots, more);
    }

    /** Returns an envelope without one recipient; fails below {@link #MIN_RECIPIENTS}. */
    public DriveEnvelope without(String name) throws KeyException.Malformed {
        List<Entry> fewer = entries.stream()
                .filter(entry -> !entry.recipient().name().equals(name))
                .toList();
        if (fewer.size() == entries.size()) {
            throw new KeyException.Malformed(SUBJECT + " of " + drive, "a recipient " + name, "none of that name");
        }
        return checked(drive, keyslots, fewer);
    }

    /** Returns the JSON that {@link #read} parses. */
    public byte[] json() {
        ObjectNode envelope = KeyFormatJson.MAPPER.createObjectNode().put("type", TYPE);
        var slots = envelope.putArray("keyslots");
        keyslots.forEach(slot -> slots.add(String.valueOf(slot)));
        envelope.put("version", VERSION).put("drive", drive);
        var recipients = envelope.putArray("recipients");
        for (Entry entry : entries) {
            recipients
                    .addObject()
                    .put("name", entry.recipient().name())
                    .put("role", entry.recipient().role().text())
                    .put(
                            "key",
                            Base64.getEncoder()
                                    .encodeToString(entry.recipient().key().bytes()))
                    .put("sealed", entry.sealed());
        }
        return envelope.toString().getBytes(StandardCharsets.US_ASCII);
    }

    private static Entry readEntry(KeyFormatJson entry) throws KeyException.Malformed {
        String name = entry.member("name").text();
        if (!NAME.matcher(name).matches()) {
            throw entry.malformed("a recipient's name", "another text");
        }
        String role = entry.member("role").text();
        Role known = Arrays.stream(Role.values())
                .filter(candidate -> candidate.text().equals(role))
                .findFirst()
                .orElseThrow(() -> entry.malformed("a role of owner, opener, recovery", "another"));
        SealingPublicKey key = SealingPublicKey.of(entry.member("key").bytes(SealingPublicKey.LENGTH));
        String sealed =
                Base64.getEncoder().encodeToString(entry.member("sealed").bytes(SEALED));
        return new Entry(new Recipient(name, known, key), sealed);
    }

    private static Entry entry(Hpke hpke, String drive, Recipient recipient, SecretMemory key)
            throws KeyException, SecretException {
        if (key.length() != KEY_LENGTH) {
            throw new IllegalArgumentException(
                    SUBJECT + ": want a drive key of " + KEY_LENGTH + " bytes, have " + key.length());
        }
        byte[] sealed = hpke.seal(recipient.key(), INFO, additionalData(drive, recipient), key);
        return new Entry(recipient, Base64.getEncoder().encodeToString(sealed));
    }

    /** Returns additional data that binds an entry to its drive and to its recipient's name, role and key. */
    private static byte[] additionalData(String drive, Recipient recipient) {
        return LengthPrefixedFields.encode(
                LengthPrefixedFields.text(drive),
                LengthPrefixedFields.text(recipient.name()),
                LengthPrefixedFields.text(recipient.role().text()));
    }

    private static DriveEnvelope checked(String drive, List<Integer> keyslots, List<Entry> entries)
            throws KeyException.Malformed {
        if (entries.size() < MIN_RECIPIENTS || entries.size() > MAX_RECIPIENTS) {
            throw new KeyException.Malformed(
                    SUBJECT + " of " + drive,
                    MIN_RECIPIENTS + " to " + MAX_RECIPIENTS + " recipients",
                    String.valueOf(entries.size()));
        }
        Set<Object> seen = new HashSet<>();
        for (Entry entry : entries) {
            boolean newName = seen.add(entry.recipient().name());
            boolean newKey = seen.add(entry.recipient().key());
            if (!newName || !newKey) {
                throw new KeyException.Malformed(
                        SUBJECT + " of " + drive,
                        "each name and key once",
                        entry.recipient().name() + " or its key twice");
            }
        }
        return new DriveEnvelope(drive, keyslots, entries);
    }
}
