package org.cloister.host.control;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** Addresses of Unix sockets, as struct sockaddr_un of unix(7). */
final class UnixSocketAddress {
    private static final int PATH_AT = 2;
    /** Path length in struct sockaddr_un, with the terminating byte. */
    private static final int MAX_PATH = 108;

    private UnixSocketAddress() {}

    /**
     * Returns the address, whose length is the array's.
     *
     * @param name a path, or {@code @} and a name in the abstract namespace
     */
    static byte[] bytes(String name) throws IOException {
        byte[] text = name.getBytes(StandardCharsets.UTF_8);
        if (text.length == 0 || text.length >= MAX_PATH) {
            throw new IOException(name + ": expected a path of 1 to " + (MAX_PATH - 1) + " bytes, got " + text.length);
        }
        if (text[0] == '@') {
            text[0] = 0;
        }
        return ByteBuffer.allocate(PATH_AT + text.length)
                .order(ByteOrder.nativeOrder())
                .putShort((short) SocketLibC.AF_UNIX)
                .put(text)
                .array();
    }
}
