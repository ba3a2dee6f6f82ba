package org.cloister.ctl.key;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.cloister.base.encoding.MalformedException;

/** Reads and writes blocks of PEM (RFC 7468) as bytes, because a block may be secret. */
public final class Pem {
    public static final String CERTIFICATE = "CERTIFICATE";
    public static final String CERTIFICATE_REQUEST = "CERTIFICATE REQUEST";
    public static final String PUBLIC_KEY = "PUBLIC KEY";
    public static final String PRIVATE_KEY = "PRIVATE KEY";

    private static final int MAX_BYTES = 64 * 1024;
    private static final int LINE = 64;

    private Pem() {}

    public static byte[] write(String label, byte[] der) {
        byte[] base64 = Base64.getMimeEncoder(LINE, new byte[] {'\n'}).encode(der);
        byte[] begin = ("-----BEGIN " + label + "-----\n").getBytes(StandardCharsets.US_ASCII);
        byte[] end = ("\n-----END " + label + "-----\n").getBytes(StandardCharsets.US_ASCII);
        byte[] all = Arrays.copyOf(begin, begin.length + base64.length + end.length);
        System.arraycopy(base64, 0, all, begin.length, base64.length);
        System.arraycopy(end, 0, all, begin.length + base64.length, end.length);
        Arrays.fill(base64, (byte) 0);
        return all;
    }

    /** Reads the file's only block of that label. */
    public static byte[] read(Path file, String label) throws IOException {
        byte[] text = readBounded(file, MAX_BYTES);
        try {
            return read(text, label);
        } catch (MalformedException e) {
            throw new MalformedException(file + ": " + e.getMessage(), e);
        } finally {
            Arrays.fill(text, (byte) 0);
        }
    }

    /** Reads all blocks of a file, which must have that label; at least 1 and at most {@code max}. */
    public static List<byte[]> readAll(Path file, String label, int max) throws IOException {
        String mark = "-----BEGIN ";
        String text = new String(readBounded(file, MAX_BYTES), StandardCharsets.ISO_8859_1);
        List<byte[]> blocks = new ArrayList<>();
        int from = text.indexOf(mark);
        while (from >= 0) {
            int next = text.indexOf(mark, from + mark.length());
            String block = text.substring(from, next < 0 ? text.length() : next);
            if (blocks.size() == max) {
                throw new MalformedException(file + ": want at most " + max + " blocks " + label + ", have more");
            }
            try {
                blocks.add(read(block.getBytes(StandardCharsets.ISO_8859_1), label));
            } catch (MalformedException e) {
                throw new MalformedException(file + ": " + e.getMessage(), e);
            }
            from = next;
        }
        if (blocks.isEmpty()) {
            throw new MalformedException(file + ": want blocks " + label + " of PEM, have none");
        }
        return blocks;
    }

    /** Reads a whole file of at most {@code max} bytes. */
    public static byte[] readBounded(Path file, int max) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] bytes = upTo(in, max + 1);
            if (bytes.length > max) {
                throw new MalformedException(file + ": want at most " + max + " bytes, have more");
            }
            return bytes;
        }
    }

    /**
     * Reads what comes of a file that may be a pipe. Java's own method asks for the position first, which a pipe has
     * not (seen on Java 21).
     */
    static byte[] upTo(InputStream in, int most) throws IOException {
        byte[] bytes = new byte[most];
        int length = 0;
        int more = 0;
        while (more >= 0 && length < most) {
            more = in.read(bytes, length, most - length);
            length += Math.max(more, 0);
        }
        byte[] read = Arrays.copyOf(bytes, length);
        Arrays.fill(bytes, (byte) 0);
        return read;
    }

    /** Reads the only block of that label. */
    public static byte[] read(byte[] text, String label) throws MalformedException {
        byte[] begin = ("-----BEGIN " + label + "-----").getBytes(StandardCharsets.US_ASCII);
        byte[] end = ("-----END " + label + "-----").getBytes(StandardCharsets.US_ASCII);
        int from = find(text, begin, 0);
        int to = from < 0 ? -1 : find(text, end, from + begin.length);
        if (to < 0 || find(text, begin, to) >= 0) {
            throw new MalformedException("want one block " + label + " of PEM, have none or more");
        }
        byte[] lines = new byte[to - from - begin.length];
        int length = 0;
        for (int i = from + begin.length; i < to; i++) {
            if (text[i] != '\n' && text[i] != '\r') {
                lines[length++] = text[i];
            }
        }
        byte[] base64 = Arrays.copyOf(lines, length);
        try {
            return Base64.getDecoder().decode(base64);
        } catch (IllegalArgumentException e) {
            throw new MalformedException("want base64 between the lines of " + label + ", have something else");
        } finally {
            Arrays.fill(lines, (byte) 0);
            Arrays.fill(base64, (byte) 0);
        }
    }

    private static int find(byte[] text, byte[] part, int from) {
        for (int i = from; i + part.length <= text.length; i++) {
            if (Arrays.equals(text, i, i + part.length, part, 0, part.length)) {
                return i;
            }
        }
        return -1;
    }
}
