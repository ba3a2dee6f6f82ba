package org.cloister.luks.volume;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Traces of LUKS on a device whose header libcryptsetup rejects. They only select the error; nothing is opened with
 * them. Offsets are those of the LUKS2 On-Disk Format Specification 1.1.1, section 2.
 *
 * @param expected length of header and key slots in bytes as the header states it; 0 if it does not
 * @param length of the device
 */
record LuksHeaderProbe(boolean luks1, boolean luks2, long expected, long length) {
    private static final byte[] PRIMARY = {'L', 'U', 'K', 'S', (byte) 0xba, (byte) 0xbe};
    private static final byte[] SECONDARY = {'S', 'K', 'U', 'L', (byte) 0xba, (byte) 0xbe};
    private static final int MAGIC_LENGTH = 6;
    private static final int BINARY_LENGTH = 4096;
    private static final int SIZE_AT = 8;
    private static final long SMALLEST = 0x4000;
    private static final long LARGEST = 0x400000;
    private static final Pattern KEYSLOTS_SIZE = Pattern.compile("\"keyslots_size\":\"(\\d{1,10})\"");

    static LuksHeaderProbe read(Path device) throws IOException {
        try (FileChannel channel = FileChannel.open(device, StandardOpenOption.READ)) {
            byte[] first = bytes(channel, 0, (int) SMALLEST);
            int version = startsWith(first, PRIMARY) && first.length >= SIZE_AT
                    ? ByteBuffer.wrap(first).getShort(MAGIC_LENGTH)
                    : 0;
            boolean luks2 = version == 2;
            if (luks2 && metadata(first) > SMALLEST) {
                first = bytes(channel, 0, (int) metadata(first));
            }
            for (long at = SMALLEST; at <= LARGEST && !luks2; at *= 2) {
                luks2 = startsWith(bytes(channel, at, MAGIC_LENGTH), SECONDARY);
            }
            return new LuksHeaderProbe(version == 1, luks2, version == 2 ? wanted(first) : 0, channel.size());
        }
    }

    boolean isTruncated() {
        return luks2 && (length < 2 * SMALLEST || length < expected);
    }

    /** Returns the length of header and key slots that a primary header, perhaps cut or damaged, states. */
    static long wanted(byte[] header) {
        long metadata = metadata(header);
        if (metadata == 0) {
            return 2 * SMALLEST;
        }
        String json = new String(header, BINARY_LENGTH, header.length - BINARY_LENGTH, StandardCharsets.ISO_8859_1);
        Matcher size = KEYSLOTS_SIZE.matcher(json);
        return 2 * metadata + (size.find() ? Long.parseLong(size.group(1)) : 0);
    }

    /** Returns the length of one copy; 0 if the header does not state a valid one. */
    private static long metadata(byte[] header) {
        long length =
                header.length < BINARY_LENGTH ? 0 : ByteBuffer.wrap(header).getLong(SIZE_AT);
        return length < SMALLEST || length > LARGEST ? 0 : length;
    }

    private static boolean startsWith(byte[] bytes, byte[] magic) {
        return bytes.length >= MAGIC_LENGTH && Arrays.equals(bytes, 0, MAGIC_LENGTH, magic, 0, MAGIC_LENGTH);
    }

    /** Reads {@code length} bytes, or fewer at the end of the file. */
    private static byte[] bytes(FileChannel channel, long at, int length) throws IOException {
        byte[] bytes = new byte[length];
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        while (buffer.hasRemaining() && channel.read(buffer, at + buffer.position()) > 0) {
            // Reads until the buffer is full or the file ends.
        }
        return Arrays.copyOf(bytes, buffer.position());
    }
}
