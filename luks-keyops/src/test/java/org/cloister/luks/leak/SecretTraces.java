package org.cloister.luks.leak;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Finds secrets, and each half of them, in a stream of bytes, in whatever form a program could have left them. */
public final class SecretTraces {
    private static final int HASH_BITS = 24;
    private static final int BUFFER = 1 << 20;
    private static final int LONGEST = 1 << 10;

    private final Map<Long, List<Pattern>> patterns = new HashMap<>();
    private final BitSet filter = new BitSet(1 << HASH_BITS);

    private static final class Pattern {
        private final String name;
        private final byte[] bytes;

        Pattern(String name, byte[] bytes) {
            this.name = name;
            this.bytes = bytes;
        }
    }

    /** At least 12 bytes of it, so that no other bytes look like a half of it. */
    public void add(String name, byte[] secret) {
        int half = Math.max(secret.length / 2, 8);
        addHalf(name + ", first half", Arrays.copyOf(secret, half));
        addHalf(name + ", second half", Arrays.copyOfRange(secret, secret.length - half, secret.length));
    }

    /** What of all that was added is found, by name and form. */
    public Set<String> in(InputStream in) throws IOException {
        Set<String> found = new TreeSet<>();
        byte[] buffer = new byte[BUFFER];
        int kept = 0;
        for (int n; (n = in.read(buffer, kept, buffer.length - kept)) > 0; ) {
            int length = kept + n;
            search(buffer, length, found);
            kept = Math.min(length, LONGEST);
            System.arraycopy(buffer, length - kept, buffer, 0, kept);
        }
        return found;
    }

    public Set<String> in(byte[] bytes) {
        Set<String> found = new TreeSet<>();
        search(bytes, bytes.length, found);
        return found;
    }

    private void addHalf(String name, byte[] half) {
        addForm(name + ", raw", half);
        // A big number's digits lie in memory with the lowest first.
        addForm(name + ", reversed", swapped(half, half.length));
        addForm(name + ", as ints", swapped(half, Integer.BYTES));
        String hex = HexFormat.of().formatHex(half);
        addText(name + ", hex", hex);
        addText(name + ", upper-case hex", HexFormat.of().withUpperCase().formatHex(half));
        for (int lead = 0; lead < 3; lead++) {
            byte[] shifted = new byte[lead + half.length];
            System.arraycopy(half, 0, shifted, lead, half.length);
            String text = Base64.getEncoder().withoutPadding().encodeToString(shifted);
            // Without the characters at both ends that say something of the neighbours too.
            addText(name + ", base64", text.substring(lead == 0 ? 0 : lead + 1, text.length() - 1));
        }
    }

    private void addText(String name, String text) {
        addForm(name, text.getBytes(StandardCharsets.US_ASCII));
        addForm(name + " in UTF-16", text.getBytes(StandardCharsets.UTF_16LE));
    }

    private void addForm(String name, byte[] bytes) {
        if (bytes.length < 8 || bytes.length > LONGEST) {
            throw new IllegalArgumentException(name + ": want 8 to " + LONGEST + " bytes, have " + bytes.length);
        }
        long head = 0;
        for (int i = 0; i < 8; i++) {
            head = (head << 8) | (bytes[i] & 0xff);
        }
        patterns.computeIfAbsent(head, key -> new ArrayList<>()).add(new Pattern(name, bytes));
        filter.set(hash(head));
    }

    private void search(byte[] bytes, int length, Set<String> found) {
        long window = 0;
        for (int i = 0; i < length; i++) {
            window = (window << 8) | (bytes[i] & 0xff);
            if (i >= 7 && filter.get(hash(window))) {
                int from = i - 7;
                for (Pattern pattern : patterns.getOrDefault(window, List.of())) {
                    int to = from + pattern.bytes.length;
                    if (to <= length && Arrays.equals(bytes, from, to, pattern.bytes, 0, to - from)) {
                        found.add(pattern.name);
                    }
                }
            }
        }
    }

    private static int hash(long window) {
        return (int) ((window * 0x9e3779b97f4a7c15L) >>> (Long.SIZE - HASH_BITS));
    }

    private static byte[] swapped(byte[] bytes, int group) {
        byte[] swapped = new byte[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            int start = i / group * group;
            int end = Math.min(start + group, bytes.length);
            swapped[i] = bytes[end - 1 - (i - start)];
        }
        return swapped;
    }
}
