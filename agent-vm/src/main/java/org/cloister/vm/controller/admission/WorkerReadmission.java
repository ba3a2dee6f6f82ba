package org.cloister.vm.controller.admission;

import java.io.IOException;
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

    private final AdmittedWorkers book;
    private final WorkerAdmission.Context terms;
    private final Provisioner giver;
    /** Workers that have the credentials of this boot. */
    private final Set<CertificateName> here = new HashSet<>();

    sealed interface Decision {
        record Continue() implements Decision {}

        /** @param needsMungeKey whether the worker needs the munge key too */
        record Readmit(AdmittedWorker worker, boolean needsMungeKey) implements Decision {}

        /** @param slotLost whether it was the slot's own worker, so that no other may replace it */
        record Refuse(String clause, boolean slotLost) implements Decision {}
    }

    WorkerReadmission(AdmittedWorkers book, WorkerAdmission.Context terms, Provisioner giver) {
        this.book = book;
        this.terms = terms;
        this.giver = giver;
    }

    /** Records a worker before anything is sent to it. */
    void recordHandover(CertificateName worker, AdmittedWorker guest) throws IOException {
        book.write(guest);
        here.add(worker);
    }

    /** Returns whether anything was handed over to the slot. */
    boolean isAdmitted(ExpectedWorkers.ExpectedSlot place) {
        return book.find(place.ticket(), place.slot().slot()).isPresent();
    }

    /** Records that a worker has received the credentials of this boot. */
    void recordReadmission(CertificateName worker) {
        here.add(worker);
    }

    boolean isCurrent(CertificateName worker) {
        return here.contains(worker);
    }

    /** @param workers the ticket's workers */
    void forget(String ticket, List<CertificateName> workers) throws IOException {
        workers.forEach(here::remove);
        book.forget(ticket);
    }

    /**
     * Checks the key of a worker. Its name alone is not sufficient: only one key of a slot received a certificate.
     *
     * @return why the worker is refused; empty if its key is the slot's
     */
    Optional<Decision.Refuse> checkKey(ExpectedWorkers.ExpectedSlot place, PeerIdentity shown) {
        Optional<AdmittedWorker> guest = book.find(place.ticket(), place.slot().slot());
        if (guest.isEmpty()) {
            return Optional.of(new Decision.Refuse("unknown", false));
        }
        return guest.get().keys().signing().equals(shown.key())
                ? Optional.empty()
                : Optional.of(new Decision.Refuse("another-key", false));
    }

    Decision decide(ExpectedWorkers.ExpectedSlot place, CertifiedIdentity shown, VmMessage.Resume resume, Instant now) {
        Optional<Decision.Refuse> stranger = checkKey(place, shown);
        if (stranger.isPresent()) {
            return stranger.get();
        }
        AdmittedWorker guest = book.find(place.ticket(), place.slot().slot()).orElseThrow();
        if (!resume.ticket().equals(guest.ticket())
                || resume.slot() != guest.slot()
                || !resume.vm().equals(guest.vm())) {
            return new Decision.Refuse("another-vm", true);
        }
        boolean known = here.contains(shown.name());
        if (known && Duration.between(now, shown.notAfter()).compareTo(RENEWED) > 0) {
            return new Decision.Continue();
        }
        Optional<String> clause = clause(place, guest, now);
        return clause.isPresent() ? new Decision.Refuse(clause.get(), true) : new Decision.Readmit(guest, !known);
    }

    /** Returns the first condition of the hand-over that no longer holds. */
    private Optional<String> clause(ExpectedWorkers.ExpectedSlot place, AdmittedWorker guest, Instant now) {
        if (!place.slot().address().equals(guest.address())
                || !place.slot().key().equals(guest.host())) {
            return Optional.of("another-slot");
        } else if (!terms.policy().accepts(guest.host())) {
            return Optional.of(EvidenceClause.HOST.id());
        } else if (terms.hostTrust().untrusted().test(guest.host())) {
            return Optional.of(EvidenceClause.REVOKED.id());
        } else if (!terms.policy().accepts(guest.image(), now)) {
            return Optional.of(EvidenceClause.IMAGE.id());
        }
        return giver.isUserAllowed(guest) ? Optional.empty() : Optional.of("no-member");
    }
}
