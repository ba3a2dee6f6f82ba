package org.cloister.transport.channel;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.link.ProtocolLimits;

/**
 * Finds the start of a session in a pipe that may still hold an earlier one; the rules are in docs/protocol.md, section
 * 10. It has no I/O and no clock: it receives bytes and returns the answers to write.
 */
public final class SessionMarkExchange {
    private static final byte[] NONE = new byte[SessionMark.MARK_BYTES];

    private final byte[] mine;
    private final byte[] window = new byte[SessionMark.BYTES];
    private byte[] answered = NONE;
    private int filled;
    private long dropped;
    private boolean established;

    /** @param mark 16 random bytes, new for each opening */
    public SessionMarkExchange(byte[] mark) {
        if (mark.length != SessionMark.MARK_BYTES || Arrays.equals(mark, NONE)) {
            throw new IllegalArgumentException("mark: want 16 random bytes, have " + mark.length);
        }
        this.mine = mark.clone();
    }

    /** Returns whether to write the greeting, now and again each second: no valid record has been received yet. */
    public boolean greets() {
        return !established && Arrays.equals(answered, NONE);
    }

    public byte[] greeting() {
        return SessionMark.bytes(mine, NONE);
    }

    public boolean established() {
        return established;
    }

    /**
     * Consumes bytes until the session is established; the remaining bytes are the session's.
     *
     * @return what to write now, if anything
     * @throws MalformedException if too many bytes were received without a session
     */
    public Optional<byte[]> read(ByteBuffer in) throws MalformedException {
        while (in.hasRemaining() && !established) {
            window[filled++] = in.get();
            resync();
            if (filled == SessionMark.BYTES) {
                Optional<byte[]> answer = onRecord();
                if (answer.isPresent()) {
                    return answer;
                }
            }
            if (dropped > ProtocolLimits.MARK_DROPPED_BYTES) {
                throw new MalformedException("channel: want a session within " + ProtocolLimits.MARK_DROPPED_BYTES
                        + " bytes, have none; the other side does not speak this protocol");
            }
        }
        return Optional.empty();
    }

    private Optional<byte[]> onRecord() {
        byte[] theirs = Arrays.copyOfRange(window, 8, 24);
        byte[] received = Arrays.copyOfRange(window, 24, SessionMark.BYTES);
        if (Arrays.equals(theirs, NONE) || !(Arrays.equals(received, NONE) || Arrays.equals(received, mine))) {
            // The record is of an earlier session, or incomplete; a valid one may start within it.
            drop();
            resync();
            return Optional.empty();
        }
        filled = 0;
        // Records count as dropped too, because each costs an answer.
        dropped += SessionMark.BYTES;
        boolean fresh = !Arrays.equals(theirs, answered);
        answered = theirs;
        established = Arrays.equals(received, mine);
        return fresh ? Optional.of(SessionMark.bytes(mine, theirs)) : Optional.empty();
    }

    /** Keeps the longest suffix of the received bytes that may be the start of a record. */
    private void resync() {
        while (!startsLikeRecord()) {
            drop();
        }
    }

    private boolean startsLikeRecord() {
        int known = Math.min(filled, SessionMark.MAGIC.length);
        return Arrays.equals(window, 0, known, SessionMark.MAGIC, 0, known);
    }

    private void drop() {
        System.arraycopy(window, 1, window, 0, filled - 1);
        filled--;
        dropped++;
    }
}
