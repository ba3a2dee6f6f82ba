package org.cloister.ctl.authority;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.EnrolmentRequest;
import org.cloister.protocol.identity.IdentityClause;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.RenewalResult;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLinkListener;

/**
 * Runs the site's registration authority on its links to relays: answers renewals, and keeps the site's revocation list
 * fresh and delivered; docs/protocol.md, section 8. One thread does all signing work in sequence. Relays are not
 * trusted: a request proves itself, and a list counts as delivered when the relay has sent it back.
 */
@SuppressWarnings("FutureReturnValueIgnored") // failures are in the journal
public final class CertificateRenewal implements AutoCloseable {
    /** Age at which a new list is signed: three more attempts may fail before the newest list expires. */
    static final Duration LIST_AGE = Duration.ofHours(6);

    private static final Duration POLL_PERIOD = Duration.ofSeconds(1);
    /** Interval between two comparisons of the newest list with all revocations. */
    private static final Duration COMPARE = Duration.ofSeconds(30);

    private static final Duration DELIVER_AGAIN = Duration.ofSeconds(30);
    /** Minimum interval between two lists that a relay accepts. */
    private static final Duration DELIVER_NEXT = ProtocolLimits.RENEWAL_PAUSE.plusSeconds(1);

    private final Signer signer;
    private final InstantSource clock;
    private final Consumer<String> journal;
    private final ScheduledExecutorService worker = Executors.newSingleThreadScheduledExecutor();
    private final AtomicInteger pending = new AtomicInteger();
    private final List<RelaySession> counters = new CopyOnWriteArrayList<>();
    /** Time when the newest list contained all revocations; used by the worker only. */
    private Instant compared = Instant.EPOCH;

    /** Signing operations of the CA's machine. */
    public interface Signer {
        /**
         * Certifies the key of a request.
         *
         * @return the certificate in DER
         */
        byte[] certify(EnrolmentRequest request, Instant now) throws IOException;

        /** Returns the newest list that any program signed. */
        Optional<RevocationList> newestList() throws IOException;

        /**
         * Returns whether a revocation is missing from the newest list, because the program that recorded it could not
         * sign one.
         */
        boolean hasUnlistedRevocations(Instant now) throws IOException;

        /** Signs the next list. */
        RevocationList signList(Instant now) throws IOException;

        /** Returns a list that a relay sent, if the site signed it. */
        Optional<RevocationList> readList(byte[] signed);
    }

    /** @param journal receives lines for the administrator, on any thread */
    public CertificateRenewal(Signer signer, InstantSource clock, Consumer<String> journal) {
        this.signer = signer;
        this.clock = clock;
        this.journal = journal;
        worker.scheduleWithFixedDelay(
                this::poll, POLL_PERIOD.toMillis(), POLL_PERIOD.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Returns the listener for the link to one relay. */
    public AgentLinkListener forRelay(String relay) {
        RelaySession counter = new RelaySession(relay);
        counters.add(counter);
        return counter;
    }

    /** Stops the worker. The current task is completed; no new one starts. */
    @Override
    public void close() {
        worker.shutdown();
    }

    private void poll() {
        Instant now = clock.instant();
        try {
            Optional<RevocationList> kept = signer.newestList();
            Optional<RevocationList> newest = isDue(kept, now) ? sign(now).or(() -> kept) : kept;
            for (RelaySession counter : counters) {
                newest.ifPresent(list -> counter.deliver(list, now));
            }
        } catch (IOException | RuntimeException e) {
            failed(e);
        }
    }

    private boolean isDue(Optional<RevocationList> newest, Instant now) {
        if (newest.isEmpty() || !now.isBefore(newest.get().thisUpdate().plus(LIST_AGE))) {
            return true;
        }
        if (now.isBefore(compared.plus(COMPARE))) {
            return false;
        }
        try {
            if (signer.hasUnlistedRevocations(now)) {
                return true;
            }
        } catch (IOException | RuntimeException e) {
            // A list that is already signed is delivered nevertheless.
            failed(e);
        }
        compared = now;
        return false;
    }

    /** Signs a list; returns empty if that failed, and the next pass then compares again. */
    private Optional<RevocationList> sign(Instant now) {
        try {
            RevocationList list = signer.signList(now);
            journal.accept("list " + list.number() + " signed, valid until " + list.nextUpdate());
            return Optional.of(list);
        } catch (IOException | RuntimeException e) {
            compared = Instant.EPOCH;
            failed(e);
            return Optional.empty();
        }
    }

    /** Logs a failure. A token that was removed fails with an unchecked exception; the next pass may find it again. */
    private void failed(Exception e) {
        journal.accept("error: revocation list: " + e.getMessage());
    }

    private RenewalResult answer(RelayMessage.RenewalRequested renewal) {
        Instant now = clock.instant();
        try {
            EnrolmentRequest request = EnrolmentRequest.parse(renewal.request().toByteArray());
            CertificateName name = request.request().name();
            boolean joins = renewal.from().equals(name.forJoining());
            if (!joins && !name.equals(renewal.from())) {
                journal.accept("refused (name): " + renewal.from() + " asks for " + name);
                return RenewalResult.refused(IdentityClause.NAME);
            }
            if (joins && !request.hasProof()) {
                journal.accept("refused (proof): " + renewal.from() + " asks without its token's proof");
                return RenewalResult.refused(IdentityClause.PROOF);
            }
            byte[] certificate = signer.certify(request, now);
            journal.accept((joins ? "enrolled: " : "renewed: ") + name);
            return RenewalResult.granted(certificate);
        } catch (IdentityRefusedException e) {
            journal.accept((e.clause() == IdentityClause.COPIED ? "ALARM: " : "") + e.getMessage());
            if (e.clause() == IdentityClause.COPIED) {
                sign(now);
            }
            return RenewalResult.refused(e.clause());
        } catch (MalformedException e) {
            journal.accept("refused (malformed): " + renewal.from() + ": " + e.getMessage());
            return RenewalResult.refused(RenewalResult.MALFORMED);
        } catch (IOException | RuntimeException e) {
            // A token that was removed fails with an unchecked exception.
            journal.accept("error: renewal of " + renewal.from() + ": " + e.getMessage());
            return RenewalResult.refused(RenewalResult.FAILED);
        }
    }

    /**
     * Processes a renewal request on the worker's thread.
     *
     * @param to receives the result on the worker's thread, or at once if too many requests wait
     */
    void renew(RelayMessage.RenewalRequested renewal, Consumer<RenewalResult> to) {
        if (pending.incrementAndGet() > ProtocolLimits.RENEWALS) {
            pending.decrementAndGet();
            to.accept(RenewalResult.refused(RenewalResult.LIMIT));
            return;
        }
        worker.execute(() -> {
            try {
                to.accept(answer(renewal));
            } finally {
                pending.decrementAndGet();
            }
        });
    }

    /** Session with one relay. */
    private final class RelaySession implements AgentLinkListener {
        private final String relay;
        private volatile Optional<AgentAttachStream> attachment = Optional.empty();
        private volatile Optional<RevocationList> latest = Optional.empty();
        private Instant delivered = Instant.EPOCH;
        private volatile Optional<RevocationList> sent = Optional.empty();
        private boolean setBack;

        RelaySession(String relay) {
            this.relay = relay;
        }

        /** The relay's own lists have come before. */
        @Override
        public void onAttached(AgentAttachStream fresh) {
            attachment = Optional.of(fresh);
            journal.accept("attached to " + relay);
        }

        @Override
        public void onLost(String why) {
            attachment = Optional.empty();
            latest = Optional.empty();
            sent = Optional.empty();
            journal.accept("not attached to " + relay + ": " + why);
        }

        @Override
        public void onRenewalRequest(AgentAttachStream from, RelayMessage.RenewalRequested renewal) {
            renew(renewal, outcome -> from.answer(renewal, outcome));
        }

        @Override
        public boolean onRevocationList(byte[] signed) {
            Optional<RevocationList> ours = signer.readList(signed);
            if (ours.isPresent()) {
                latest = ours;
                journal.accept(relay + " has list " + ours.get().number());
            }
            return ours.isPresent();
        }

        /** Delivers the newest list if the relay lacks it; runs on the worker's thread. */
        void deliver(RevocationList newest, Instant now) {
            int order =
                    latest.map(list -> list.number().compareTo(newest.number())).orElse(-1);
            if (order > 0 && !setBack) {
                journal.accept("ALARM: " + relay + " has list "
                        + latest.orElseThrow().number() + " of this CA, whose newest here is " + newest.number()
                        + ": this folder was reset to an older state, and certificates that were revoked "
                        + "since then are no longer revoked");
            }
            setBack = order > 0;
            Optional<AgentAttachStream> here = attachment;
            Duration pause = sent.equals(Optional.of(newest)) ? DELIVER_AGAIN : DELIVER_NEXT;
            if (order < 0 && here.isPresent() && !now.isBefore(delivered.plus(pause))) {
                delivered = now;
                sent = Optional.of(newest);
                here.get().deliver(newest.bytes());
            }
        }

        @Override
        public void onServed(CertificateName name, Optional<CloseReason> refused) {}

        /** Refuses: the registration authority serves no circuits. */
        @Override
        public void onDial(AgentAttachStream from, RelayMessage.Dial dial) {
            from.refuse(dial, CloseReason.REFUSED);
        }
    }
}
