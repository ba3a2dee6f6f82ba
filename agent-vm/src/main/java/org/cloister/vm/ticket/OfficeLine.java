package org.cloister.vm.ticket;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.link.Pace;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.TicketStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps a stream of tickets open for as long as there is a link: one after the other, so that both ends show newer certificates. */
@SuppressWarnings("FutureReturnValueIgnored") // a stream that cannot be opened is tried again
public final class OfficeLine {
    private static final Logger LOG = LoggerFactory.getLogger(OfficeLine.class);

    private final Supplier<TicketStream.Speaker> speaker;
    private final Welcomed welcomed;
    private final Listener listener;

    /** What can be said while a stream is open. */
    @FunctionalInterface
    public interface Said {
        void say(PartyMessage message);
    }

    /** Looks at a relay's welcome. */
    @FunctionalInterface
    public interface Welcomed {
        /** @return how long the stream may be used */
        Duration by(OfficeMessage.Welcome relay);
    }

    /** Hears on the link's event loop, which it must not block. */
    public interface Listener {
        void open(Said to);

        void heard(OfficeMessage message);

        void closed();
    }

    /**
     * @param speaker with its certificate of the day
     * @param welcomed on the link's event loop, before anybody hears of the stream
     */
    public OfficeLine(Supplier<TicketStream.Speaker> speaker, Welcomed welcomed, Listener listener) {
        this.speaker = speaker;
        this.welcomed = welcomed;
        this.listener = listener;
    }

    /** On a link that was attached; ends with it. */
    public void enter(Link link) {
        TicketStream.open(link, Optional.of(speaker.get()), new TicketStream.Events() {
            private boolean welcome;
            private @Nullable ScheduledFuture<?> anew;

            @Override
            public void heard(TicketStream stream, OfficeMessage message) {
                if (message instanceof OfficeMessage.Welcome relay && !welcome) {
                    welcome = true;
                    Duration use = welcomed.by(relay);
                    anew = link.loop().schedule(stream::close, use.toMillis(), TimeUnit.MILLISECONDS);
                    listener.open(stream::say);
                }
                listener.heard(message);
            }

            @Override
            public void ended(String why) {
                if (anew != null) {
                    anew.cancel(false);
                }
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
