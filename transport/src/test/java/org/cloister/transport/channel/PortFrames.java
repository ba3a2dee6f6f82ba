package org.cloister.transport.channel;

import com.google.protobuf.ByteString;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;

/** Cuts what one side of a port writes into what it is made of: an interruption, marks, HTTP/2's preface, frames. */
final class PortFrames {
    private static final int PREFACE_BYTES = 24;
    private static final int HEAD_BYTES = 9;
    private static final int TYPE_AT = 3;
    private static final int FLAGS_AT = 4;
    private static final int STREAM_AT = 5;
    private static final String[] TYPES = {
        "DATA",
        "HEADERS",
        "PRIORITY",
        "RST_STREAM",
        "SETTINGS",
        "PUSH_PROMISE",
        "PING",
        "GOAWAY",
        "WINDOW_UPDATE",
        "CONTINUATION"
    };

    private byte[] unread = {};

    /** One of them, whole. */
    record Frame(String name, ByteString bytes) {}

    void add(byte[] bytes) {
        int before = unread.length;
        unread = Arrays.copyOf(unread, before + bytes.length);
        System.arraycopy(bytes, 0, unread, before, bytes.length);
    }

    /** Takes out all that is not yet a whole one, too. */
    byte[] rest() {
        byte[] rest = unread;
        unread = new byte[0];
        return rest;
    }

    /** @return empty until more has come */
    Optional<Frame> next() {
        if (unread.length < HEAD_BYTES) {
            return Optional.empty();
        }
        int ones = 0;
        while (ones < unread.length && unread[ones] == (byte) 0xff) {
            ones++;
        }
        // As the length of a frame, three of them would be longer than any.
        if (ones >= 3) {
            return mark(ones);
        }
        if (unread[0] == 'P') {
            return nextFrame("preface", PREFACE_BYTES);
        }
        ByteBuffer head = ByteBuffer.wrap(unread);
        int length = head.getInt(0) >>> Byte.SIZE;
        int stream = head.getInt(STREAM_AT);
        boolean flagged = (unread[FLAGS_AT] & 1) != 0;
        String type = TYPES[unread[TYPE_AT]];
        String flag = stream == 0 ? " ack" : " end";
        return nextFrame(type + (stream == 0 ? "" : " " + stream) + (flagged ? flag : ""), HEAD_BYTES + length);
    }

    private Optional<Frame> mark(int ones) {
        if (ones == unread.length) {
            return Optional.empty();
        }
        if (ones > 3) {
            return nextFrame("interruption", ones - 3);
        }
        boolean answers = unread.length >= SessionMark.BYTES
                && !Arrays.equals(unread, 24, SessionMark.BYTES, new byte[SessionMark.MARK_BYTES], 0, 16);
        return nextFrame(answers ? "answer" : "greeting", SessionMark.BYTES);
    }

    private Optional<Frame> nextFrame(String name, int length) {
        if (unread.length < length) {
            return Optional.empty();
        }
        ByteString bytes = ByteString.copyFrom(unread, 0, length);
        unread = Arrays.copyOfRange(unread, length, unread.length);
        return Optional.of(new Frame(name, bytes));
    }
}
