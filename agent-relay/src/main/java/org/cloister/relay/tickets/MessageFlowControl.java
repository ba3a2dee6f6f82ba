package org.cloister.relay.tickets;

import io.netty.channel.Channel;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.transport.link.MessageFraming;
import org.jspecify.annotations.Nullable;

/**
 * Admits the messages of a stream one at a time: the next one when the last one was checked, while fewer than
 * {@code unanswered} messages wait for their answers to be written, and while few bytes of answers are unwritten.
 * Messages that are not admitted yet stay bytes, which the stream's window bounds. Must be used on the stream's event
 * loop, except for methods that say otherwise.
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

    /** Returns the handler that reads the stream's messages under this control. */
    MessageFraming messages() {
        MessageFraming framing =
                new MessageFraming(ProtocolLimits.AGENT_TICKET_MESSAGE_BYTES, AgentTicketMessage::read, this::isOpen);
        messages = framing;
        return framing;
    }

    private boolean isOpen() {
        return !checking && unanswered < ProtocolLimits.UNANSWERED && unwritten <= ProtocolLimits.UNWRITTEN_BYTES;
    }

    /** Records that a message was read. */
    void onMessage() {
        checking = true;
        unanswered++;
    }

    /** Records that the last message was checked and passed on; it may still be unanswered. Thread-safe. */
    void onChecked() {
        stream.eventLoop().execute(() -> {
            checking = false;
            resume();
        });
    }

    /** Records that an answer of so many bytes is about to be written. */
    void onWriteStarted(int bytes) {
        unwritten += bytes;
    }

    /** Records that the answer was written or never will be. */
    void onWritten(int bytes) {
        unwritten -= bytes;
        unanswered--;
        resume();
    }

    /** Records that one message gets no answer. Thread-safe. */
    void onSkipped() {
        stream.eventLoop().execute(() -> onWritten(0));
    }

    private void resume() {
        if (messages != null && isOpen()) {
            messages.resume();
        }
    }
}
