package org.cloister.ctl.circuit;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.TicketStream;
import org.jspecify.annotations.Nullable;

/** A device's link with its stream of tickets. What comes waits until it is asked for; the end stays the end. */
public final class TicketLine implements TicketStream.Events, AutoCloseable {
    private static final long ANSWER_S = 20;

    private final LinkOptions.Attached attached;
    private final BlockingQueue<Optional<OfficeMessage>> heard = new LinkedBlockingQueue<>();
    private volatile @Nullable TicketStream stream;
    private volatile String why = "";

    private TicketLine(LinkOptions.Attached attached) {
        this.attached = attached;
    }

    /** Returns when the relay has said welcome. */
    public static TicketLine open(LinkOptions.Attached attached) throws IOException, InterruptedException {
        TicketLine line = new TicketLine(attached);
        try {
            TicketStream.open(attached.link(), Optional.empty(), line);
            while (!(line.hear() instanceof OfficeMessage.Welcome)) {
                // What a later version may say before.
            }
            return line;
        } catch (IOException | InterruptedException e) {
            line.close();
            throw e;
        }
    }

    public void say(PartyMessage message) {
        TicketStream welcome = stream;
        if (welcome == null) {
            throw new IllegalStateException("nothing is said before the welcome");
        }
        welcome.say(message);
    }

    /** For circuits beside it. */
    public Link link() {
        return attached.link();
    }

    /** The next that came. */
    public OfficeMessage hear() throws IOException, InterruptedException {
        Optional<OfficeMessage> next = heard.poll(ANSWER_S, TimeUnit.SECONDS);
        if (next == null) {
            throw new IOException("relay: want an answer within " + ANSWER_S + " s, have none");
        }
        return next.orElseThrow(() -> new IOException("relay: " + why));
    }

    /**
     * The next of this kind; what else comes is left out.
     *
     * @param subject for messages
     * @throws IOException the relay refuses, or says nothing
     */
    public <T extends OfficeMessage> T hear(Class<T> kind, String subject) throws IOException, InterruptedException {
        while (true) {
            OfficeMessage next = hear();
            if (kind.isInstance(next)) {
                return kind.cast(next);
            }
            if (next instanceof OfficeMessage.Refused refused) {
                throw new IOException(subject + " refused (" + refused.clause() + "): " + refused.text());
            }
        }
    }

    @Override
    public void heard(TicketStream on, OfficeMessage message) {
        stream = on;
        heard.add(Optional.of(message));
    }

    @Override
    public void ended(String reason) {
        why = reason;
        heard.add(Optional.empty());
    }

    @Override
    public void close() {
        attached.close();
    }
}
