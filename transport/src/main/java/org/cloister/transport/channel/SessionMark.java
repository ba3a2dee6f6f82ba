package org.cloister.transport.channel;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.cloister.protocol.link.ProtocolLimits;

/** Session mark record, which each side of a channel writes before a session: docs/protocol.md, section 10. */
public final class SessionMark {
    public static final int MARK_BYTES = 16;
    public static final int BYTES = 40;
    /** Parsed as the start of an HTTP/2 frame, its length is above the limit. */
    static final byte[] MAGIC = {(byte) 0xff, (byte) 0xff, (byte) 0xff, 'C', 'L', 'O', 'I', 'S'};

    /** Length of the longest permitted HTTP/2 frame, and of the header of the next. */
    static final int INTERRUPTION_BYTES = ProtocolLimits.FRAME_BYTES + 9;

    private SessionMark() {}

    /**
     * Returns the bytes that are written once before the first record: a frame of an earlier session ends within them.
     */
    static byte[] interruption() {
        byte[] bytes = new byte[INTERRUPTION_BYTES];
        Arrays.fill(bytes, (byte) 0xff);
        return bytes;
    }

    /**
     * Returns a mark record.
     *
     * @param yours zeros until the other side's mark was received
     */
    public static byte[] bytes(byte[] mine, byte[] yours) {
        return ByteBuffer.allocate(BYTES).put(MAGIC).put(mine).put(yours).array();
    }
}
