package org.cloister.relay.tickets;

import io.netty.channel.Channel;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.transport.link.MessageFraming;
import org.jspecify.annotations.Nullable;

/**
 * Lets messages of a stream in one at a time: the next one when the last one was checked, while fewer than {@code unanswered}
 * wait for their answers to be written, and while few bytes of answers are unwritten. What may not come in yet stays bytes, which
 * the stream's window bounds. On the stream's event loop, but for methods that say otherwise.
 */
final class MessageFlowControl {
    private final Channel stream;
    private @Nullable MessageFraming messages;
    private boolean checking;
    private int unanswered;
    private long unwritten;

    MessageFlowControl(Channel stream) {
        this.stream = stream;
    }

    /** The handler that reads the stream's messages through this gate. */
    MessageFraming messages() {
        MessageFraming framing =
                new MessageFraming(ProtocolLimits.AGENT_TICKET_MESSAGE_BYTES, AgentTicketMessage::read, this::isOpen);
        messages = framing;
        return framing;
    }

    private boolean isOpen() {
        return !checking && unanswered < ProtocolLimits.UNANSWERED && unwritten <= ProtocolLimits.UNWRITTEN_BYTES;
    }

    /** A message came in. */
    void onMessage() {
        checking = true;
        unanswered++;
    }

    /** The message that came in last is handed on; it may still be unanswered. From any thread. */
    void onChecked() {
        stream.eventLoop().execute(() -> {
            checking = false;
            resume();
        });
    }

    /** An answer of so many bytes is about to be written. */
    void onWriteStarted(int bytes) {
        unwritten += bytes;
    }

    /** The answer is written, or never will be. */
    void onWritten(int bytes) {
        unwritten -= bytes;
        unanswered--;
        resume();
    }

    /** Nothing is to be answered to one message. From any thread. */
    void onSkipped() {
        stream.eventLoop().execute(() -> onWritten(0));
    }

    private void resume() {
        if (messages != null && isOpen()) {
            messages.resume();
        }
    }
}
