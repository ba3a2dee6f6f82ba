package org.cloister.transport.link;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.cloister.protocol.link.ReconnectDelay;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a ticket stream open on an agent's newest link: when one ends, it opens the next, while the link lasts. Any
 * thread may call; listeners run on the link's event loop, which they must not block.
 */
@SuppressWarnings("FutureReturnValueIgnored") // schedules on the event loop's own timer
public final class TicketStreamClient implements AutoCloseable {
    private static final Duration HOST_PAUSE = Duration.ofSeconds(2);

    private final Supplier<Optional<TicketStream.ControllerSigner>> signer;
    private final Function<RelayTicketMessage.Welcome, Optional<Duration>> usableFor;
    private final Duration pause;

    // Guarded by this object's monitor.
    private @Nullable Session session;
    private boolean closed;

    /** Sends messages while a stream is open. */
    @FunctionalInterface
    public interface Sender {
        void send(AgentTicketMessage message);
    }

    /** Receives the events of the streams on one link, until another link is attached. */
    public interface Listener {
        /** The relay has sent its welcome: requests without an answer are to be sent again. */
        void onOpen(Sender to);

        /** Called for each message, the welcome included. */
        void onMessage(RelayTicketMessage message);

        /**
         * A stream ended, or could not be opened.
         *
         * @param why for the log
         */
        void onClosed(String why);
    }

    private TicketStreamClient(
            Supplier<Optional<TicketStream.ControllerSigner>> signer,
            Function<RelayTicketMessage.Welcome, Optional<Duration>> usableFor,
            Duration pause) {
        this.signer = signer;
        this.usableFor = usableFor;
        this.pause = pause;
    }

    /** Returns the client of a host, which its link identifies. */
    public static TicketStreamClient ofHost() {
        return new TicketStreamClient(Optional::empty, welcome -> Optional.empty(), HOST_PAUSE);
    }

    /**
     * Returns the client of a controlling VM, which proves its identity on each stream.
     *
     * @param signer returns the signer with its current certificate
     * @param usableFor handles a relay's welcome before the listener learns of the stream, and returns how long the
     *     stream may be used, so that both ends show newer certificates on the next one
     */
    public static TicketStreamClient ofController(
            Supplier<TicketStream.ControllerSigner> signer, Function<RelayTicketMessage.Welcome, Duration> usableFor) {
        return new TicketStreamClient(
                () -> Optional.of(signer.get()),
                welcome -> Optional.of(usableFor.apply(welcome)),
                ReconnectDelay.ON_CHANNEL.atLeast());
    }

    /** Uses a link until it closes or the next one is attached. */
    public void attach(ClientLink link, Listener listener) {
        Session next = new Session(link, listener);
        synchronized (this) {
            if (closed) {
                return;
            }
            session = next;
        }
        next.open();
    }

    /** Closes the current stream and opens no other one. */
    @Override
    public void close() {
        Session last;
        synchronized (this) {
            closed = true;
            last = session;
            session = null;
        }
        if (last != null) {
            last.closeStream();
        }
    }

    private synchronized boolean isCurrent(Session one) {
        return session == one;
    }

    /** Streams on one link, one after another. */
    private final class Session implements TicketStream.Events {
        private final ClientLink link;
        private final Listener listener;
        private volatile @Nullable TicketStream stream;
        private @Nullable ScheduledFuture<?> end;

        Session(ClientLink link, Listener listener) {
            this.link = link;
            this.listener = listener;
        }

        void open() {
            TicketStream.open(link, signer.get(), this);
        }

        void closeStream() {
            TicketStream open = stream;
            if (open != null) {
                open.close();
            }
        }

        @Override
        public void onMessage(TicketStream from, RelayTicketMessage message) {
            if (!isCurrent(this)) {
                return;
            }
            if (message instanceof RelayTicketMessage.Welcome welcome && stream != from) {
                stream = from;
                cancelEnd();
                end = usableFor
                        .apply(welcome)
                        .map(use -> link.loop().schedule(from::close, use.toMillis(), TimeUnit.MILLISECONDS))
                        .orElse(null);
                listener.onOpen(from::send);
            }
            listener.onMessage(message);
        }

        @Override
        public void onClosed(String why) {
            stream = null;
            cancelEnd();
            if (isCurrent(this) && !link.loop().isShuttingDown()) {
                listener.onClosed(why);
                link.loop().schedule(this::reopen, pause.toMillis(), TimeUnit.MILLISECONDS);
            }
        }

        private void cancelEnd() {
            if (end != null) {
                end.cancel(false);
                end = null;
            }
        }

        private void reopen() {
            if (isCurrent(this) && link.channel().isActive()) {
                open();
            }
        }
    }
}
