package org.cloister.protocol;

import com.google.protobuf.MessageLite;
import java.nio.ByteBuffer;

/** Frames of messages as docs/protocol.md, section 7, has them: the length in four bytes, and the message. */
public final class TestFrames {
    private TestFrames() {}

    public static byte[] frame(MessageLite message) {
        byte[] bytes = message.toByteArray();
        return ByteBuffer.allocate(Integer.BYTES + bytes.length)
                .putInt(bytes.length)
                .put(bytes)
                .array();
    }
}
