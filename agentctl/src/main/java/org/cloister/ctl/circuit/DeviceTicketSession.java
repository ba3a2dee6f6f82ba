package org.cloister.ctl.circuit;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.TicketStream;
import org.jspecify.annotations.Nullable;

/**
 * Device's link with its ticket stream. Received messages wait until they are read; a relay that lets too many of them
 * wait loses the stream.
 */
public final class DeviceTicketSession implements TicketStream.Events, AutoCloseable {
    private static final long ANSWER_S = 20;
    /** Maximum number of messages that wait: a device requests one thing at a time, and may read none for minutes. */
    private static final int UNREAD = 64;

    private final RelayLinkOptions.AttachedLink attached;
    private final BlockingQueue<Optional<RelayTicketMessage>> messages = new LinkedBlockingQueue<>();
    private volatile @Nullable TicketStream stream;
    private volatile String why = "";
    /** Set when too many messages wait; used on the event loop only. */
    private boolean flooded;

    private DeviceTicketSession(RelayLinkOptions.AttachedLink attached) {
        this.attached = attached;
    }

    /** Opens the stream; returns when the relay has sent its welcome. */
    public static DeviceTicketSession open(RelayLinkOptions.AttachedLink attached)
            throws IOException, InterruptedException {
        DeviceTicketSession line = new DeviceTicketSession(attached);
        try {
            TicketStream.open(attached.link(), Optional.empty(), line);
            while (!(line.receive() instanceof RelayTicketMessage.Welcome)) {
                // A later version may send other messages before.
            }
            return line;
        } catch (IOException | InterruptedException e) {
            line.close();
            throw e;
        }
    }

    public void send(AgentTicketMessage message) {
        TicketStream welcome = stream;
        if (welcome == null) {
            throw new IllegalStateException("no message is sent before the relay's welcome");
        }
        welcome.send(message);
    }

    /** Returns the link, for circuits beside the stream. */
    public ClientLink link() {
        return attached.link();
    }

    /** Returns the next message. */
    public RelayTicketMessage receive() throws IOException, InterruptedException {
        Optional<RelayTicketMessage> next = messages.poll(ANSWER_S, TimeUnit.SECONDS);
        if (next == null) {
            throw new IOException("relay: no answer within " + ANSWER_S + " s");
        }
        return next.orElseThrow(() -> new IOException("relay: " + why));
    }

    /**
     * Returns the next message of this kind and skips others.
     *
     * @param subject subject of error messages
     * @throws IOException if the relay refuses the request or does not answer
     */
    public <T extends RelayTicketMessage> T receive(Class<T> kind, String subject)
            throws IOException, InterruptedException {
        while (true) {
            RelayTicketMessage next = receive();
            if (kind.isInstance(next)) {
                return kind.cast(next);
            }
            if (next instanceof RelayTicketMessage.Refused refused) {
                throw new IOException(subject + " refused (" + refused.clause() + "): " + refused.text());
            }
        }
    }

    @Override
    public void onMessage(TicketStream on, RelayTicketMessage message) {
        stream = on;
        if (messages.size() < UNREAD && !flooded) {
            messages.add(Optional.of(message));
        } else if (!flooded) {
            flooded = true;
            on.close();
        }
    }

    @Override
    public void onClosed(String reason) {
        why = flooded ? UNREAD + " messages wait unread, which is the limit" : reason;
        messages.add(Optional.empty());
    }

    @Override
    public void close() {
        attached.close();
    }
}
