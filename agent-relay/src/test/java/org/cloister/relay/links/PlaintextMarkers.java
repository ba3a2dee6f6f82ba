package org.cloister.relay.links;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Strings that stand for what a project sends, and the search for them, or half of them, in any form a program leaves. */
final class PlaintextMarkers {
    private static final int BUFFER = 1 << 20;
    private static final int LONGEST = 256;

    /** By their first four bytes. */
    private final Map<Integer, List<Form>> forms = new HashMap<>();

    /** Whether a form begins with these two bytes: most of memory is passed over by this look alone. */
    private final boolean[] starts = new boolean[1 << 16];

    private static final class Form {
        private final String name;
        private final byte[] bytes;

        Form(String name, byte[] bytes) {
            this.name = name;
            this.bytes = bytes;
        }
    }

    /** @return 64 letters and digits that nobody else has */
    byte[] make(String name) {
        byte[] random = new byte[32];
        new SecureRandom().nextBytes(random);
        String marker = HexFormat.of().formatHex(random).replace('0', 'x');
        for (String half : List.of(marker.substring(0, 32), marker.substring(32))) {
            byte[] raw = half.getBytes(StandardCharsets.US_ASCII);
            add(name, raw);
            add(name + " in UTF-16", half.getBytes(StandardCharsets.UTF_16LE));
            add(name + " in hex", text(HexFormat.of().formatHex(raw)));
            for (int lead = 0; lead < 3; lead++) {
                byte[] shifted = new byte[lead + raw.length];
                System.arraycopy(raw, 0, shifted, lead, raw.length);
                String base64 = Base64.getEncoder().withoutPadding().encodeToString(shifted);
                // Without the characters at both ends that say something of the neighbours too.
                add(name + " in base64", text(base64.substring(lead == 0 ? 0 : lead + 1, base64.length() - 1)));
            }
        }
        return text(marker);
    }

    private void add(String name, byte[] bytes) {
        starts[ByteBuffer.wrap(bytes).getChar(0)] = true;
        forms.computeIfAbsent(ByteBuffer.wrap(bytes).getInt(0), key -> new ArrayList<>())
                .add(new Form(name, bytes));
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** The names of what is found in a file, or in all files of a folder, each with the file's. */
    Set<String> in(Path place) throws IOException {
        Set<String> found = new TreeSet<>();
        try (Stream<Path> files = Files.walk(place)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                try (InputStream in = Files.newInputStream(file)) {
                    in(in).forEach(name -> found.add(name + " in " + file.getFileName()));
                }
            }
        }
        return found;
    }

    private Set<String> in(InputStream in) throws IOException {
        Set<String> found = new TreeSet<>();
        byte[] buffer = new byte[BUFFER];
        int stored = 0;
        for (int n = in.read(buffer, stored, buffer.length - stored);
                n > 0;
                n = in.read(buffer, stored, buffer.length - stored)) {
            int length = stored + n;
            search(buffer, length, found);
            stored = Math.min(length, LONGEST);
            System.arraycopy(buffer, length - stored, buffer, 0, stored);
        }
        return found;
    }

    private void search(byte[] bytes, int length, Set<String> found) {
        ByteBuffer heads = ByteBuffer.wrap(bytes);
        for (int at = 0; at + Integer.BYTES <= length; at++) {
            if (!starts[heads.getChar(at)]) {
                continue;
            }
            for (Form form : forms.getOrDefault(heads.getInt(at), List.of())) {
                int end = at + form.bytes.length;
                if (end <= length && Arrays.equals(bytes, at, end, form.bytes, 0, form.bytes.length)) {
                    found.add(form.name);
                }
            }
        }
    }
}
