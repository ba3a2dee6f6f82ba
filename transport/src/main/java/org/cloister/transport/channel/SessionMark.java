package org.cloister.transport.channel;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.cloister.protocol.link.ProtocolLimits;

/** What a side of a channel writes before a session: docs/protocol.md, section 10. */
public final class SessionMark {
    public static final int MARK_BYTES = 16;
    public static final int BYTES = 40;
    /** As the start of an HTTP/2 frame its length would be more than is allowed. */
    static final byte[] MAGIC = {(byte) 0xff, (byte) 0xff, (byte) 0xff, 'C', 'L', 'O', 'I', 'S'};

    /** The longest HTTP/2 frame allowed, and the head of the next. */
    static final int INTERRUPTION_BYTES = ProtocolLimits.FRAME_BYTES + 9;

    private SessionMark() {}

    /** Written once before the first record: whatever frame a session of before was in, it ends in here. */
    static byte[] interruption() {
        byte[] bytes = new byte[INTERRUPTION_BYTES];
        Arrays.fill(bytes, (byte) 0xff);
        return bytes;
    }

    /** @param yours zeros while it has not been heard */
    public static byte[] bytes(byte[] mine, byte[] yours) {
        return ByteBuffer.allocate(BYTES).put(MAGIC).put(mine).put(yours).array();
    }
}
