package org.cloister.relay.ticket;

import io.netty.channel.Channel;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.ticket.PartyMessage;
import org.jspecify.annotations.Nullable;

/**
 * Lets messages of a stream in one at a time: the next one when the last one was checked, while fewer than {@code unanswered}
 * wait for their answers to be written, and while few bytes of answers are unwritten. What may not come in yet stays bytes, which
 * the stream's window bounds. On the stream's event loop, but for methods that say otherwise.
 */
final class Gate {
    private final Channel stream;
    private @Nullable Framing messages;
    private boolean checking;
    private int unanswered;
    private long unwritten;

    Gate(Channel stream) {
        this.stream = stream;
    }

    /** The handler that reads the stream's messages through this gate. */
    Framing messages() {
        Framing framing = new Framing(LinkLimits.FROM_PARTY_BYTES, PartyMessage::read, this::isOpen);
        messages = framing;
        return framing;
    }

    private boolean isOpen() {
        return !checking && unanswered < LinkLimits.UNANSWERED && unwritten <= LinkLimits.UNWRITTEN_BYTES;
    }

    /** A message came in. */
    void entered() {
        checking = true;
        unanswered++;
    }

    /** The message that came in last is handed on; it may still be unanswered. From any thread. */
    void checked() {
        stream.eventLoop().execute(() -> {
            checking = false;
            resume();
        });
    }

    /** An answer of so many bytes is about to be written. */
    void writing(int bytes) {
        unwritten += bytes;
    }

    /** The answer is written, or never will be. */
    void written(int bytes) {
        unwritten -= bytes;
        unanswered--;
        resume();
    }

    /** Nothing is to be answered to one message. From any thread. */
    void skipped() {
        stream.eventLoop().execute(() -> written(0));
    }

    private void resume() {
        if (messages != null && isOpen()) {
            messages.resume();
        }
    }
}
