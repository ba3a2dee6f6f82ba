package org.cloister.transport.link;

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
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.ReconnectDelay;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.RenewalResult;
import org.cloister.transport.tls.TlsCredential;
import org.jspecify.annotations.Nullable;

/**
 * Keeps an agent attached to one of its relays, or a VM's agent to its host: performs the actions of
 * {@link LinkReconnectPolicy} on one event loop. A draining connection stays open for its circuits while the next one
 * is dialled.
 */
@SuppressWarnings("FutureReturnValueIgnored") // results of the loop's own timer are not needed
public final class AgentLink implements AutoCloseable {
    /**
     * Relays that an agent dials, and the identity with which it dials them.
     *
     * @param credential for each handshake; a {@link RenewalClient} is also run, while the link is attached
     * @param relay narrows which of the site's relays are accepted; the identity function accepts all
     */
    public record Settings(
            List<InetSocketAddress> relays,
            Supplier<TlsCredential> credential,
            UnaryOperator<CertifiedPeerVerifier> relay,
            TrustStore trustStore,
            String software) {
        public Settings {
            relays = List.copyOf(relays);
            if (relays.isEmpty()) {
                throw new IllegalArgumentException("relays: want at least one, have none");
            }
        }
    }

    private static final long LEAST_WAIT_MS = 100;

    /**
     * Own identity and settings of the agent.
     *
     * @param isVm whether the other side is a VM's host
     */
    private record OwnCertificate(
            String software,
            TrustStore trustStore,
            @Nullable RenewalClient renewal,
            boolean isVm) {}

    /**
     * Opens a connection: to a relay, or over the channel to a VM's host. Cancelling the future abandons the attempt.
     */
    @FunctionalInterface
    public interface Dialler {
        Future<ClientLink> dial();
    }

    private final EventLoop loop;
    private final Dialler dialler;
    private final OwnCertificate own;
    private final LinkReconnectPolicy.Settings settings;
    private final AgentLinkListener events;
    private final RandomGenerator random;
    private final LinkReconnectPolicy reconnect;
    private @Nullable Attempt current;
    private final PeriodicCheck check;
    private @Nullable AgentAttachStream attached;
    private @Nullable ScheduledFuture<?> timer;
    private @Nullable ScheduledFuture<?> renewalTimer;
    private boolean closed;

    /** Dials a relay at once. Connections use {@code loops}; decisions and events use one loop of it. */
    public AgentLink(EventLoopGroup loops, Settings terms, AgentLinkListener events, RandomGenerator random) {
        this(
                loops.next(),
                inTurn(loops, terms),
                new OwnCertificate(
                        terms.software,
                        terms.trustStore,
                        terms.credential instanceof RenewalClient renewal ? renewal : null,
                        false),
                LinkReconnectPolicy.Settings.LINK,
                events,
                random);
    }

    /**
     * Dials a VM's host over its channel at once; decisions and events use {@code loop}.
     *
     * @param trustStore receives the revocation lists from the host; the host itself is not trusted
     */
    public AgentLink(
            EventLoop loop,
            Dialler dialler,
            String software,
            TrustStore trustStore,
            AgentLinkListener events,
            RandomGenerator random) {
        this(
                loop,
                dialler,
                new OwnCertificate(software, trustStore, null, true),
                LinkReconnectPolicy.Settings.CHANNEL,
                events,
                random);
    }

    private AgentLink(
            EventLoop loop,
            Dialler dialler,
            OwnCertificate own,
            LinkReconnectPolicy.Settings settings,
            AgentLinkListener events,
            RandomGenerator random) {
        this.loop = loop;
        this.dialler = dialler;
        this.own = own;
        this.settings = settings;
        this.events = events;
        this.random = random;
        this.reconnect = new LinkReconnectPolicy(settings, System.nanoTime());
        loop.execute(this::step);
        this.check = new PeriodicCheck(loop, this::check);
    }

    private static Dialler inTurn(EventLoopGroup loops, Settings terms) {
        AtomicInteger attempts = new AtomicInteger();
        CertifiedPeerVerifier relay = terms.relay.apply(CertifiedPeerVerifier.forRelays(terms.trustStore));
        return () -> {
            int next = Math.floorMod(attempts.getAndIncrement(), terms.relays.size());
            InetSocketAddress address = terms.relays.get(next);
            InetSocketAddress fresh = InetSocketAddress.createUnresolved(address.getHostString(), address.getPort());
            return ClientLink.dial(loops, fresh, terms.credential.get(), relay);
        };
    }

    /** Closes the link, and with it all its circuits. */
    @Override
    public void close() {
        loop.execute(() -> {
            closed = true;
            check.close();
            cancel(timer);
            cancel(renewalTimer);
            if (current != null) {
                current.drop();
            }
        });
    }

    private static void cancel(@Nullable ScheduledFuture<?> timer) {
        if (timer != null) {
            timer.cancel(false);
        }
    }

    /** Checks that the relay is still trusted, because a list may have arrived or a certificate expired. */
    private void check() {
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
                onLost("not attached within " + settings.attachWithin().toSeconds() + " s");
                return;
            }
            case NONE -> {}
        }
        schedule();
    }

    private void schedule() {
        cancel(timer);
        if (!reconnect.attached() && !closed) {
            long wait = Math.max(0, reconnect.deadlineNs() - System.nanoTime());
            timer = loop.schedule(this::step, wait, TimeUnit.NANOSECONDS);
        }
    }

    private void dial() {
        Attempt attempt = new Attempt();
        current = attempt;
        attempt.dialling = dialler.dial();
        attempt.dialling.addListener((Future<ClientLink> dialled) -> loop.execute(() -> attempt.onConnected(dialled)));
    }

    /** Requests the renewal of the own certificate if it is time, and schedules the next check. */
    private void renew() {
        cancel(renewalTimer);
        if (attached != null && !closed && own.renewal != null) {
            own.renewal.nextRequest(Instant.now()).ifPresent(attached::renew);
            long wait = Math.max(
                    LEAST_WAIT_MS,
                    Duration.between(Instant.now(), own.renewal.nextRequestTime())
                            .toMillis());
            renewalTimer = loop.schedule(this::renew, wait, TimeUnit.MILLISECONDS);
        }
    }

    private void onRenewed(RenewalResult outcome) {
        if (own.renewal == null) {
            events.onCertificateResult(outcome);
        } else {
            try {
                events.onRenewed(own.renewal.acceptResult(outcome, Instant.now()));
                attachRenewed();
            } catch (IOException e) {
                events.onRenewalFailed(String.valueOf(e.getMessage()));
            }
            renew();
        }
    }

    /** Ends a link that the expired certificate opened; the next one shows the new certificate. */
    private void attachRenewed() {
        if (current != null && current.forRenewal) {
            current.drop();
            onLost("the certificate had expired and is renewed");
        }
    }

    private void onLost(String why) {
        current = null;
        attached = null;
        reconnect.onLost(System.nanoTime(), random.nextDouble());
        events.onLost(why);
        schedule();
    }

    /**
     * Attempt to attach: a connection and its attach stream. Late events of an attempt other than {@code current} are
     * ignored.
     */
    private final class Attempt implements AgentAttachStream.Listener {
        private @Nullable Future<ClientLink> dialling;
        private @Nullable ClientLink link;
        private boolean hasLists;
        /** The relay accepts nothing but the renewal on such a link, so nobody else learns of it. */
        private final boolean forRenewal = own.renewal != null && own.renewal.hasExpired(Instant.now());

        private boolean dropped;

        void drop() {
            dropped = true;
            if (link != null) {
                link.close();
            } else if (dialling != null) {
                dialling.cancel(false);
            }
        }

        void onConnected(Future<ClientLink> dialled) {
            if (!dialled.isSuccess()) {
                onClosed(null, String.valueOf(dialled.cause().getMessage()));
                return;
            }
            link = dialled.getNow();
            if (dropped || closed) {
                link.close();
                return;
            }
            link.peerGoAwayFuture().addListener(goAway -> onClosed(null, "the relay takes no more streams"));
            AgentAttachStream.open(link, own.software, this);
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

        /** Verifies that the relay is trusted, after it sent the list that could revoke it. */
        private boolean requireBelieved() {
            if (link == null || !hasLists) {
                return false;
            }
            try {
                if (link.peer().isPresent()) {
                    own.trustStore.require(link.peer().get());
                }
                return true;
            } catch (IdentityRefusedException e) {
                drop();
                onLost(String.valueOf(e.getMessage()));
                return false;
            }
        }

        @Override
        public void onAttached(AgentAttachStream attachment, ReconnectDelay delay) {
            whenCurrent(() -> {
                hasLists = true;
                if (requireBelieved()) {
                    reconnect.onAttached(delay);
                    attached = attachment;
                    if (!forRenewal) {
                        events.onAttached(attachment);
                    }
                    renew();
                }
            });
        }

        @Override
        public void onDrain(AgentAttachStream attachment, ReconnectDelay delay) {
            whenCurrent(() -> {
                current = null;
                attached = null;
                reconnect.onDrain(delay, System.nanoTime(), random.nextDouble());
                events.onLost("the relay is draining");
                schedule();
            });
        }

        /** Rejects the request from a relay, which could otherwise make a host stop all its VMs. */
        @Override
        public void onShutdownRequest(Duration within) throws MalformedException {
            if (!own.isVm) {
                throw new MalformedException("attach stream: want no Leave of a relay, have one");
            }
            whenCurrent(() -> events.onShutdownRequest(within));
        }

        @Override
        public void onClosed(@Nullable AgentAttachStream attachment, String why) {
            whenCurrent(() -> {
                drop();
                onLost(why);
            });
        }

        @Override
        public void onServed(CertificateName name, Optional<CloseReason> refused) {
            whenCurrent(() -> events.onServed(name, refused));
        }

        @Override
        public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
            whenCurrent(() -> events.onDial(attachment, dial));
        }

        @Override
        public void onRenewalResult(RenewalResult outcome) {
            whenCurrent(() -> onRenewed(outcome));
        }

        @Override
        public void onRenewalRequest(AgentAttachStream attachment, RelayMessage.RenewalRequested renewal) {
            whenCurrent(() -> events.onRenewalRequest(attachment, renewal));
        }

        @Override
        public boolean onRevocationList(byte[] signed) throws MalformedException {
            boolean taken = false;
            try {
                own.trustStore.addRevocationList(signed);
                taken = true;
            } catch (IdentityRefusedException e) {
                // It may be older than another relay's, or of a project that a party behind this agent knows.
                events.onListRefused(e);
            }
            return events.onRevocationList(signed) || taken;
        }
    }
}
