package org.cloister.protocol.link;

import com.google.protobuf.ByteString;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ScheduledFuture;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.cloister.protocol.identity.Name;
import org.jspecify.annotations.Nullable;

/**
 * Keeps an agent attached to one of its relays, or a VM's to its host: carries out what {@link Reconnect} decides, on one event loop. A connection
 * that drains is left to its circuits while the next one is dialled.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the loop's own timer
public final class AgentLink implements AutoCloseable {
    /** Whom an agent dials, and as whom. */
    public record Terms(List<InetSocketAddress> relays, Supplier<Credential> own, Trust relay, String software) {
        public Terms {
            relays = List.copyOf(relays);
            if (relays.isEmpty()) {
                throw new IllegalArgumentException("relays: want at least one, have none");
            }
        }
    }

    /** Makes a connection: to a relay, or over the channel to a VM's host. Cancelling gives it up. */
    @FunctionalInterface
    public interface Dialler {
        Future<Link> dial();
    }

    private final EventLoop loop;
    private final Dialler dialler;
    private final String software;
    private final Reconnect.Terms patience;
    private final AgentEvents events;
    private final RandomGenerator random;
    private final Reconnect reconnect;
    private @Nullable Attempt current;
    private @Nullable ScheduledFuture<?> timer;
    private boolean closed;

    /** Dials a relay at once. Connections are on {@code loops}, decisions and events on one loop of it. */
    public AgentLink(EventLoopGroup loops, Terms terms, AgentEvents events, RandomGenerator random) {
        this(loops.next(), inTurn(loops, terms), terms.software, Reconnect.Terms.LINK, events, random);
    }

    /** Dials at once; decisions and events are on {@code loop}. */
    public AgentLink(
            EventLoop loop,
            Dialler dialler,
            String software,
            Reconnect.Terms patience,
            AgentEvents events,
            RandomGenerator random) {
        this.loop = loop;
        this.dialler = dialler;
        this.software = software;
        this.patience = patience;
        this.events = events;
        this.random = random;
        this.reconnect = new Reconnect(patience, System.nanoTime());
        loop.execute(this::step);
    }

    private static Dialler inTurn(EventLoopGroup loops, Terms terms) {
        AtomicInteger attempts = new AtomicInteger();
        return () -> {
            int next = Math.floorMod(attempts.getAndIncrement(), terms.relays.size());
            InetSocketAddress relay = terms.relays.get(next);
            InetSocketAddress fresh = InetSocketAddress.createUnresolved(relay.getHostString(), relay.getPort());
            return Link.dial(loops, fresh, terms.own.get(), terms.relay);
        };
    }

    /** Ends the link, and with it all circuits on it. */
    @Override
    public void close() {
        loop.execute(() -> {
            closed = true;
            if (timer != null) {
                timer.cancel(false);
            }
            if (current != null) {
                current.drop();
            }
        });
    }

    private void step() {
        if (closed) {
            return;
        }
        switch (reconnect.run(System.nanoTime())) {
            case DIAL -> dial();
            case ABANDON -> {
                if (current != null) {
                    current.drop();
                }
                onLost("not attached within " + patience.attachWithin().toSeconds() + " s");
                return;
            }
            case NONE -> {}
        }
        schedule();
    }

    private void schedule() {
        if (timer != null) {
            timer.cancel(false);
        }
        if (!reconnect.attached() && !closed) {
            long wait = Math.max(0, reconnect.deadlineNs() - System.nanoTime());
            timer = loop.schedule(this::step, wait, TimeUnit.NANOSECONDS);
        }
    }

    private void dial() {
        Attempt attempt = new Attempt();
        current = attempt;
        attempt.dialling = dialler.dial();
        attempt.dialling.addListener((Future<Link> dialled) -> loop.execute(() -> attempt.onDialled(dialled)));
    }

    private void onLost(String why) {
        current = null;
        reconnect.onLost(System.nanoTime(), random.nextDouble());
        events.lost(why);
        schedule();
    }

    /** One connection and its attach stream; what comes from an older one than {@code current} is late and ignored. */
    private final class Attempt implements Attachment.Owner {
        private @Nullable Future<Link> dialling;
        private @Nullable Link link;
        private boolean dropped;

        void drop() {
            dropped = true;
            if (link != null) {
                link.close();
            } else if (dialling != null) {
                dialling.cancel(false);
            }
        }

        void onDialled(Future<Link> dialled) {
            if (!dialled.isSuccess()) {
                ended(null, String.valueOf(dialled.cause().getMessage()));
                return;
            }
            link = dialled.getNow();
            if (dropped || closed) {
                link.close();
                return;
            }
            link.leaving().addListener(leaving -> ended(null, "the relay takes no more streams"));
            Attachment.open(link, software, this);
        }

        private void whenCurrent(Runnable action) {
            if (loop.isShuttingDown()) {
                return;
            }
            loop.execute(() -> {
                if (current == this && !closed) {
                    action.run();
                }
            });
        }

        @Override
        public void attached(Attachment attachment, Pace pace) {
            whenCurrent(() -> {
                reconnect.onAttached(pace);
                events.attached(attachment);
            });
        }

        @Override
        public void draining(Attachment attachment, Pace pace) {
            whenCurrent(() -> {
                current = null;
                reconnect.onDrain(pace, System.nanoTime(), random.nextDouble());
                events.lost("the relay is draining");
                schedule();
            });
        }

        @Override
        public void ended(@Nullable Attachment attachment, String why) {
            whenCurrent(() -> {
                drop();
                onLost(why);
            });
        }

        @Override
        public void served(Name name, Optional<CloseReason> refused) {
            whenCurrent(() -> events.served(name, refused));
        }

        @Override
        public void dialled(Attachment attachment, RelayMessage.Dial dial) {
            whenCurrent(() -> events.dialled(attachment, dial));
        }

        @Override
        public boolean revoked(long number, ByteString signed) {
            return events.revoked(number, signed);
        }
    }
}
