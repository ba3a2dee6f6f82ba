package org.cloister.transport.channel;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import org.cloister.base.encoding.MalformedException;

/** Any bytes in a port give the same answers in all pieces, and a session only with our own mark in them. */
class SessionMarkFuzz {
    private static final byte[] MINE = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

    @FuzzTest(maxDuration = "60s")
    void a_session_starts_only_with_our_mark(byte[] bytes) throws MalformedException {
        SessionMarkExchange whole = new SessionMarkExchange(MINE);
        int answers = feed(whole, ByteBuffer.wrap(bytes));
        SessionMarkExchange single = new SessionMarkExchange(MINE);
        int answersAgain = 0;
        for (byte each : bytes) {
            answersAgain += feed(single, ByteBuffer.wrap(new byte[] {each}));
        }
        if (answers != answersAgain || whole.established() != single.established()) {
            throw new IllegalStateException("pieces make a difference");
        }
        if (whole.established() && indexOfMine(bytes) < 0) {
            throw new IllegalStateException("a session without our mark");
        }
    }

    private static int feed(SessionMarkExchange exchange, ByteBuffer in) throws MalformedException {
        int answers = 0;
        while (in.hasRemaining() && !exchange.established()) {
            Optional<byte[]> answer = exchange.read(in);
            answers += answer.isPresent() ? 1 : 0;
        }
        return answers;
    }

    private static int indexOfMine(byte[] bytes) {
        for (int at = 0; at + MINE.length <= bytes.length; at++) {
            if (Arrays.equals(bytes, at, at + MINE.length, MINE, 0, MINE.length)) {
                return at;
            }
        }
        return -1;
    }
}
