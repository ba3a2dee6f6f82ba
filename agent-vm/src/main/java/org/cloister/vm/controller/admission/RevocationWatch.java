package org.cloister.vm.controller.admission;

import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.IdentityClause;
import org.cloister.protocol.identity.RevocableSessions;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.circuit.OpenCircuits;
import org.cloister.transport.link.PeriodicCheck;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks each second whether admitted workers are still trusted. A circuit closes when the certificate that opened it
 * is no longer valid. A worker ends when its host's key is revoked, or when its certificate is revoked and it has no
 * other, since it could not reconnect.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the loop's own termination
final class RevocationWatch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RevocationWatch.class);
    /** Clauses that no list and no document reverses; an expired certificate or list may be followed by a newer one. */
    private static final Set<IdentityClause> FOR_GOOD = Set.of(IdentityClause.REVOKED, IdentityClause.ISSUER);

    private final WorkerAdmission.Context terms;
    private final ExpectedWorkers expected;
    private final WorkerReadmission returning;
    private final Executor decisions;
    private final BiConsumer<CertificateName, ExpectedWorkers.ExpectedSlot> lapsed;
    private final EventLoop loop = new DefaultEventLoop();
    private final OpenCircuits circuits;
    private final PeriodicCheck looking;
    /** Workers that were already reported; used on the worker admission's thread. */
    private final Set<CertificateName> said = new HashSet<>();

    /**
     * @param decisions the thread of the worker admission and of its collaborators
     * @param lapsed called there once for each worker that must end
     */
    RevocationWatch(
            WorkerAdmission.Context terms,
            ExpectedWorkers expected,
            WorkerReadmission returning,
            Executor decisions,
            BiConsumer<CertificateName, ExpectedWorkers.ExpectedSlot> lapsed) {
        this.terms = terms;
        this.expected = expected;
        this.returning = returning;
        this.decisions = decisions;
        this.lapsed = lapsed;
        this.circuits = new OpenCircuits(terms.trustStore(), loop, ended -> decide(() -> ended(ended)));
        this.looking = new PeriodicCheck(loop, () -> decide(this::look));
    }

    /**
     * Watches a circuit. A boot circuit is not watched: its key was certified by no authority, so it cannot be revoked.
     */
    void add(WorkerSession talk) {
        if (!talk.isBooting()) {
            circuits.add(talk.circuit());
        }
    }

    private void ended(RevocableSessions.RevokedSession<Circuit> ended) {
        Circuit circuit = ended.what();
        CertificateName worker = circuit.terms().from();
        LOG.warn("worker {}: circuit ended: {}", worker, ended.refusal().getMessage());
        if (FOR_GOOD.contains(ended.refusal().clause()) && !returning.isCurrent(worker)) {
            expected.find(worker)
                    .filter(place ->
                            returning.checkKey(place, circuit.peerIdentity()).isEmpty())
                    .ifPresent(place -> say(worker, place));
        }
    }

    private void look() {
        Map<CertificateName, ExpectedWorkers.ExpectedSlot> all = expected.all();
        said.retainAll(all.keySet());
        all.forEach((worker, place) -> {
            if (returning.isAdmitted(place)
                    && terms.hostTrust().keyRevoked().test(place.slot().key())) {
                say(worker, place);
            }
        });
    }

    private void say(CertificateName worker, ExpectedWorkers.ExpectedSlot place) {
        if (said.add(worker)) {
            LOG.warn(
                    "worker {} on {}: ends, for it was revoked",
                    worker,
                    place.slot().node());
            lapsed.accept(worker, place);
        }
    }

    private void decide(Runnable act) {
        try {
            decisions.execute(act);
        } catch (RejectedExecutionException e) {
            LOG.debug("workers: the desk has ended: {}", e.getMessage());
        }
    }

    @Override
    public void close() {
        looking.close();
        circuits.close();
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
}
