package org.cloister.vm.ticket;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.link.Pace;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.TicketStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps a stream of tickets open for as long as there is a link. */
@SuppressWarnings("FutureReturnValueIgnored") // a stream that cannot be opened is tried again
public final class OfficeLine {
    private static final Logger LOG = LoggerFactory.getLogger(OfficeLine.class);

    private final TicketStream.Speaker speaker;
    private final Listener listener;

    /** What can be said while a stream is open. */
    @FunctionalInterface
    public interface Said {
        void say(PartyMessage message);
    }

    /** Hears on the link's event loop, which it must not block. */
    public interface Listener {
        void open(Said to);

        void heard(OfficeMessage message);

        void closed();
    }

    public OfficeLine(TicketStream.Speaker speaker, Listener listener) {
        this.speaker = speaker;
        this.listener = listener;
    }

    /** On a link that was attached; ends with it. */
    public void enter(Link link) {
        TicketStream.open(link, Optional.of(speaker), new TicketStream.Events() {
            private boolean welcome;

            @Override
            public void heard(TicketStream stream, OfficeMessage message) {
                if (message instanceof OfficeMessage.Welcome) {
                    welcome = true;
                    listener.open(stream::say);
                }
                listener.heard(message);
            }

            @Override
            public void ended(String why) {
                if (welcome) {
                    listener.closed();
                }
                LOG.info("relay: stream of tickets ended: {}", why);
                if (link.channel().isActive()) {
                    link.loop()
                            .schedule(
                                    () -> enter(link), Pace.ON_CHANNEL.atLeast().toMillis(), TimeUnit.MILLISECONDS);
                }
            }
        });
    }
}
