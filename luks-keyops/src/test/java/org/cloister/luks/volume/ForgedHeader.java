package org.cloister.luks.volume;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;

/** Changes a LUKS2 header as an attacker with the storage can: in both copies, with checksums that hold. */
public final class ForgedHeader {
    private static final int COPY = 64 << 10;
    private static final int BINARY = 4096;
    private static final int UUID_AT = 168;
    private static final int CHECKSUM_AT = 448;
    private static final int CHECKSUM_LENGTH = 64;
    private static final ObjectMapper JSON = new ObjectMapper();

    private ForgedHeader() {}

    /**
     * Sets one field, or adds it.
     *
     * @param pointer such as {@code /segments/0/encryption}
     * @param value JSON
     */
    public static void set(Path disk, String pointer, String value) throws IOException {
        JsonPointer at = JsonPointer.compile(pointer);
        change(disk, (binary, metadata) -> {
            JsonNode parent = metadata.at(at.head());
            if (!(parent instanceof ObjectNode object)) {
                throw new IOException(pointer + ": no object in " + metadata);
            }
            object.set(at.last().getMatchingProperty(), JSON.readTree(value));
        });
    }

    /** Writes another UUID, of 39 characters at most. */
    public static void uuid(Path disk, String uuid) throws IOException {
        byte[] text = Arrays.copyOf(uuid.getBytes(StandardCharsets.US_ASCII), 40);
        change(disk, (binary, metadata) -> System.arraycopy(text, 0, binary, UUID_AT, text.length));
    }

    @FunctionalInterface
    private interface Change {
        void of(byte[] binary, ObjectNode metadata) throws IOException;
    }

    private static void change(Path disk, Change change) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(disk.toFile(), "rw")) {
            for (int copy = 0; copy < 2; copy++) {
                byte[] whole = new byte[COPY];
                file.seek((long) copy * COPY);
                file.readFully(whole);
                byte[] binary = Arrays.copyOf(whole, BINARY);
                String text = new String(whole, BINARY, COPY - BINARY, StandardCharsets.UTF_8);
                ObjectNode metadata = (ObjectNode) JSON.readTree(text.substring(0, text.indexOf('\0')));
                change.of(binary, metadata);
                byte[] area = Arrays.copyOf(JSON.writeValueAsBytes(metadata), COPY - BINARY);
                Arrays.fill(binary, CHECKSUM_AT, CHECKSUM_AT + CHECKSUM_LENGTH, (byte) 0);
                byte[] sum = sha256(binary, area);
                System.arraycopy(sum, 0, binary, CHECKSUM_AT, sum.length);
                file.seek((long) copy * COPY);
                file.write(binary);
                file.write(area);
            }
        }
    }

    private static byte[] sha256(byte[] binary, byte[] area) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(binary);
            return digest.digest(area);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JRE has SHA-256", e);
        }
    }
}
