package org.cloister.vm.controller.admission;

import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.protocol.evidence.EvidenceClause;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.PeerIdentity;

/**
 * Decides whether a worker that reconnects with a certificate continues unchanged, is readmitted, or is refused. The
 * circuit has verified the certificate, whichever boot of the controlling VM issued it; here the worker must also be
 * the one that the drive's records have, by its key. Not thread-safe.
 */
final class WorkerReadmission {
    /**
     * Remaining validity up to which a certificate is renewed. A worker asks for renewal when half a day is over; one
     * that reconnects for another reason is renewed a little earlier.
     */
    private static final Duration RENEWED = Duration.ofHours(13);

    private final AdmittedWorkers admitted;
    private final AdmissionContext context;
    private final Provisioner provisioner;
    /** Workers that have the credentials of this boot. */
    private final Set<CertificateName> current = new HashSet<>();

    sealed interface Decision {
        record Continue() implements Decision {}

        /** @param isMungeKeyDue whether the worker needs the munge key too */
        record Readmit(AdmittedWorker worker, boolean isMungeKeyDue) implements Decision {}

        /** @param slotLost whether it was the slot's own worker, so that no other may replace it */
        record Refuse(String clause, boolean slotLost) implements Decision {}
    }

    WorkerReadmission(AdmittedWorkers admitted, AdmissionContext context, Provisioner provisioner) {
        this.admitted = admitted;
        this.context = context;
        this.provisioner = provisioner;
    }

    /** Records a worker before anything is sent to it. It is in the drive's records already. */
    void recordHandover(CertificateName name, AdmittedWorker worker) {
        admitted.add(worker);
        current.add(name);
    }

    /** Returns whether anything was handed over to the slot. */
    boolean isAdmitted(ExpectedWorkers.ExpectedSlot expected) {
        return admitted.find(expected.ticket(), expected.slot().slot()).isPresent();
    }

    /** Records that a worker has received the credentials of this boot. */
    void recordReadmission(CertificateName worker) {
        current.add(worker);
    }

    boolean isCurrent(CertificateName worker) {
        return current.contains(worker);
    }

    /** Returns the admitted workers of a ticket that do not have the credentials of this boot. */
    Set<CertificateName> missing(ExpectedWorkers expected, String ticket) {
        Set<CertificateName> missing = new HashSet<>(expected.workersOf(ticket));
        missing.removeIf(worker -> isCurrent(worker)
                || expected.find(worker).filter(this::isAdmitted).isEmpty());
        return missing;
    }

    /** @param workers the ticket's workers */
    void forget(String ticket, List<CertificateName> workers) {
        workers.forEach(current::remove);
        admitted.forget(ticket);
    }

    /**
     * Checks the key of a worker. Its name alone is not sufficient: only one key of a slot received a certificate.
     *
     * @return why the worker is refused; empty if its key is the slot's
     */
    Optional<Decision.Refuse> checkKey(ExpectedWorkers.ExpectedSlot expected, PeerIdentity peer) {
        Optional<AdmittedWorker> worker =
                admitted.find(expected.ticket(), expected.slot().slot());
        if (worker.isEmpty()) {
            return Optional.of(new Decision.Refuse("unknown", false));
        }
        return worker.get().keys().signing().equals(peer.key())
                ? Optional.empty()
                : Optional.of(new Decision.Refuse("another-key", false));
    }

    Decision decide(
            ExpectedWorkers.ExpectedSlot expected, CertifiedIdentity peer, VmMessage.Resume resume, Instant now) {
        Optional<Decision.Refuse> refusal = checkKey(expected, peer);
        if (refusal.isPresent()) {
            return refusal.get();
        }
        AdmittedWorker worker =
                admitted.find(expected.ticket(), expected.slot().slot()).orElseThrow();
        if (!resume.ticket().equals(worker.ticket())
                || resume.slot() != worker.slot()
                || !resume.vm().equals(worker.vm())) {
            return new Decision.Refuse("another-vm", true);
        }
        boolean isCurrent = current.contains(peer.name());
        if (isCurrent && Duration.between(now, peer.notAfter()).compareTo(RENEWED) > 0) {
            return new Decision.Continue();
        }
        Optional<String> clause = failedClause(expected, worker, now);
        return clause.isPresent() ? new Decision.Refuse(clause.get(), true) : new Decision.Readmit(worker, !isCurrent);
    }

    /** Returns the first condition of the hand-over that no longer holds. */
    private Optional<String> failedClause(ExpectedWorkers.ExpectedSlot expected, AdmittedWorker worker, Instant now) {
        if (!expected.slot().address().equals(worker.address())
                || !expected.slot().key().equals(worker.host())) {
            return Optional.of("another-slot");
        } else if (!context.policy().accepts(worker.host())) {
            return Optional.of(EvidenceClause.HOST.id());
        } else if (context.hostTrust().untrusted().test(worker.host())) {
            return Optional.of(EvidenceClause.REVOKED.id());
        } else if (!context.policy().accepts(worker.image(), now)) {
            return Optional.of(EvidenceClause.IMAGE.id());
        }
        return provisioner.isUserAllowed(worker) ? Optional.empty() : Optional.of("no-member");
    }
}
