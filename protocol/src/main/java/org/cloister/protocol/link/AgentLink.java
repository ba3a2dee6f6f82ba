package org.cloister.protocol.link;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.Name;
import org.jspecify.annotations.Nullable;

/**
 * Keeps an agent attached to one of its relays, or a VM's to its host: carries out what {@link Reconnect} decides, on one event loop. A connection
 * that drains is left to its circuits while the next one is dialled.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the loop's own timer
public final class AgentLink implements AutoCloseable {
    /**
     * Whom an agent dials, and as whom.
     *
     * @param own for each handshake; a {@link Renewal} is carried out besides, while the link is attached
     * @param relay narrows whom of the site's relays it takes; the identity, if each of them will do
     */
    public record Terms(
            List<InetSocketAddress> relays,
            Supplier<Credential> own,
            UnaryOperator<Trust> relay,
            Beliefs beliefs,
            String software) {
        public Terms {
            relays = List.copyOf(relays);
            if (relays.isEmpty()) {
                throw new IllegalArgumentException("relays: want at least one, have none");
            }
        }
    }

    private static final long LEAST_WAIT_MS = 100;

    /** @param isVm whether the other side is a VM's host */
    private record Own(
            String software, Beliefs beliefs, @Nullable Renewal renewal, boolean isVm) {}

    /** Makes a connection: to a relay, or over the channel to a VM's host. Cancelling gives it up. */
    @FunctionalInterface
    public interface Dialler {
        Future<Link> dial();
    }

    private final EventLoop loop;
    private final Dialler dialler;
    private final Own own;
    private final Reconnect.Terms patience;
    private final AgentEvents events;
    private final RandomGenerator random;
    private final Reconnect reconnect;
    private @Nullable Attempt current;
    private final Looking looking;
    private @Nullable Attachment attached;
    private @Nullable ScheduledFuture<?> timer;
    private @Nullable ScheduledFuture<?> renewalTimer;
    private boolean closed;

    /** Dials a relay at once. Connections are on {@code loops}, decisions and events on one loop of it. */
    public AgentLink(EventLoopGroup loops, Terms terms, AgentEvents events, RandomGenerator random) {
        this(
                loops.next(),
                inTurn(loops, terms),
                new Own(terms.software, terms.beliefs, terms.own instanceof Renewal renewal ? renewal : null, false),
                Reconnect.Terms.LINK,
                events,
                random);
    }

    /**
     * Dials a VM's host over its channel at once; decisions and events are on {@code loop}.
     *
     * @param beliefs hear of the lists that come down; whoever is at the other side is believed nothing
     */
    public AgentLink(
            EventLoop loop,
            Dialler dialler,
            String software,
            Beliefs beliefs,
            AgentEvents events,
            RandomGenerator random) {
        this(loop, dialler, new Own(software, beliefs, null, true), Reconnect.Terms.CHANNEL, events, random);
    }

    private AgentLink(
            EventLoop loop,
            Dialler dialler,
            Own own,
            Reconnect.Terms patience,
            AgentEvents events,
            RandomGenerator random) {
        this.loop = loop;
        this.dialler = dialler;
        this.own = own;
        this.patience = patience;
        this.events = events;
        this.random = random;
        this.reconnect = new Reconnect(patience, System.nanoTime());
        loop.execute(this::step);
        this.looking = new Looking(loop, this::look);
    }

    private static Dialler inTurn(EventLoopGroup loops, Terms terms) {
        AtomicInteger attempts = new AtomicInteger();
        Trust relay = terms.relay.apply(Trust.inRelays(terms.beliefs));
        return () -> {
            int next = Math.floorMod(attempts.getAndIncrement(), terms.relays.size());
            InetSocketAddress address = terms.relays.get(next);
            InetSocketAddress fresh = InetSocketAddress.createUnresolved(address.getHostString(), address.getPort());
            return Link.dial(loops, fresh, terms.own.get(), relay);
        };
    }

    /** Ends the link, and with it all circuits on it. */
    @Override
    public void close() {
        loop.execute(() -> {
            closed = true;
            looking.close();
            if (timer != null) {
                timer.cancel(false);
            }
            if (renewalTimer != null) {
                renewalTimer.cancel(false);
            }
            if (current != null) {
                current.drop();
            }
        });
    }

    /** A list may have come, or a time. */
    private void look() {
        if (current != null) {
            current.requireBelieved();
        }
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

    /** Asks for the own certificate's renewal if it is time, and looks again when it will be. */
    private void renew() {
        if (renewalTimer != null) {
            renewalTimer.cancel(false);
        }
        if (attached != null && !closed && own.renewal != null) {
            own.renewal.ask(Instant.now()).ifPresent(attached::renew);
            long wait = Math.max(
                    LEAST_WAIT_MS,
                    Duration.between(Instant.now(), own.renewal.next()).toMillis());
            renewalTimer = loop.schedule(this::renew, wait, TimeUnit.MILLISECONDS);
        }
    }

    private void onRenewed(RenewalOutcome outcome) {
        if (own.renewal != null) {
            try {
                events.renewed(own.renewal.answered(outcome, Instant.now()));
            } catch (IOException e) {
                events.notRenewed(String.valueOf(e.getMessage()));
            }
            renew();
        }
    }

    private void onLost(String why) {
        current = null;
        attached = null;
        reconnect.onLost(System.nanoTime(), random.nextDouble());
        events.lost(why);
        schedule();
    }

    /** One connection and its attach stream; what comes from an older one than {@code current} is late and ignored. */
    private final class Attempt implements Attachment.Owner {
        private @Nullable Future<Link> dialling;
        private @Nullable Link link;
        private boolean hasLists;
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
            Attachment.open(link, own.software, this);
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

        /** The relay brought the list that could deny it. */
        private boolean requireBelieved() {
            if (link == null || !hasLists) {
                return false;
            }
            try {
                if (link.peer().isPresent()) {
                    own.beliefs.require(link.peer().get());
                }
                return true;
            } catch (IdentityRefused e) {
                drop();
                onLost(String.valueOf(e.getMessage()));
                return false;
            }
        }

        @Override
        public void attached(Attachment attachment, Pace pace) {
            whenCurrent(() -> {
                hasLists = true;
                if (requireBelieved()) {
                    reconnect.onAttached(pace);
                    attached = attachment;
                    events.attached(attachment);
                    renew();
                }
            });
        }

        @Override
        public void draining(Attachment attachment, Pace pace) {
            whenCurrent(() -> {
                current = null;
                attached = null;
                reconnect.onDrain(pace, System.nanoTime(), random.nextDouble());
                events.lost("the relay is draining");
                schedule();
            });
        }

        /** A relay that says it would have a host end all its VMs. */
        @Override
        public void askedToLeave(Duration within) throws MalformedException {
            if (!own.isVm) {
                throw new MalformedException("attach stream: want no Leave of a relay, have one");
            }
            whenCurrent(() -> events.askedToLeave(within));
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
        public void renewed(RenewalOutcome outcome) {
            whenCurrent(() -> onRenewed(outcome));
        }

        @Override
        public void asked(Attachment attachment, RelayMessage.RenewalAsked renewal) {
            whenCurrent(() -> events.asked(attachment, renewal));
        }

        @Override
        public boolean revoked(byte[] signed) throws MalformedException {
            boolean taken = false;
            try {
                own.beliefs.take(signed);
                taken = true;
            } catch (IdentityRefused e) {
                // An older one than another relay brought, or of a project that somebody behind this agent knows.
                events.refused(e);
            }
            return events.revoked(signed) || taken;
        }
    }
}
