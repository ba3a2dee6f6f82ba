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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks whether admitted workers are still trusted. A circuit closes when the certificate that opened it is no longer
 * valid. A worker ends when its host's key is revoked, which its owner checks each second, or when its certificate is
 * revoked and it has no other, since it could not reconnect.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the loop's own termination
final class RevocationWatch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RevocationWatch.class);
    /** Clauses that no list and no document reverses; an expired certificate or list may be followed by a newer one. */
    private static final Set<IdentityClause> PERMANENT = Set.of(IdentityClause.REVOKED, IdentityClause.ISSUER);

    private final AdmissionContext context;
    private final ExpectedWorkers expected;
    private final WorkerReadmission readmission;
    private final Executor decisions;
    private final BiConsumer<CertificateName, ExpectedWorkers.ExpectedSlot> onRevoked;
    private final EventLoop loop = new DefaultEventLoop();
    private final OpenCircuits circuits;
    /** Workers that were already reported; used on the worker admission's thread. */
    private final Set<CertificateName> reported = new HashSet<>();

    /**
     * @param decisions the thread of the worker admission and of its collaborators
     * @param onRevoked called there once for each worker that must end
     */
    RevocationWatch(
            AdmissionContext context,
            ExpectedWorkers expected,
            WorkerReadmission readmission,
            Executor decisions,
            BiConsumer<CertificateName, ExpectedWorkers.ExpectedSlot> onRevoked) {
        this.context = context;
        this.expected = expected;
        this.readmission = readmission;
        this.decisions = decisions;
        this.onRevoked = onRevoked;
        this.circuits = new OpenCircuits(context.trustStore(), loop, ended -> decide(() -> onCircuitEnded(ended)));
    }

    /**
     * Watches a circuit. A boot circuit is not watched: its key was certified by no authority, so it cannot be revoked.
     */
    void add(WorkerSession session) {
        if (!session.isBooting()) {
            circuits.add(session.circuit());
        }
    }

    private void onCircuitEnded(RevocableSessions.RevokedSession<Circuit> ended) {
        Circuit circuit = ended.what();
        CertificateName worker = circuit.terms().from();
        LOG.warn("worker {}: circuit ended: {}", worker, ended.refusal().getMessage());
        if (PERMANENT.contains(ended.refusal().clause()) && !readmission.isCurrent(worker)) {
            expected.find(worker)
                    .filter(expectedSlot -> readmission
                            .checkKey(expectedSlot, circuit.peerIdentity())
                            .isEmpty())
                    .ifPresent(expectedSlot -> report(worker, expectedSlot));
        }
    }

    /** The loop of its timers. */
    EventLoop loop() {
        return loop;
    }

    /** Reports workers whose host's key was revoked. To be called each second, on the worker admission's thread. */
    void checkHostKeys() {
        Map<CertificateName, ExpectedWorkers.ExpectedSlot> slots = expected.all();
        reported.retainAll(slots.keySet());
        slots.forEach((worker, expectedSlot) -> {
            if (readmission.isAdmitted(expectedSlot)
                    && context.hostTrust().keyRevoked().test(expectedSlot.slot().key())) {
                report(worker, expectedSlot);
            }
        });
    }

    private void report(CertificateName worker, ExpectedWorkers.ExpectedSlot expectedSlot) {
        if (reported.add(worker)) {
            LOG.warn(
                    "worker {} on {}: must end: it or its host was revoked",
                    worker,
                    expectedSlot.slot().node());
            onRevoked.accept(worker, expectedSlot);
        }
    }

    private void decide(Runnable task) {
        try {
            decisions.execute(task);
        } catch (RejectedExecutionException e) {
            LOG.debug("workers: the admission is closed: {}", e.getMessage());
        }
    }

    @Override
    public void close() {
        circuits.close();
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
}
