package org.cloister.vm.controller.admission;

import java.io.IOException;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.evidence.AttestationResult;
import org.cloister.protocol.evidence.CircuitBinding;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.EvidenceVerifier;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.ReferenceValues;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.policy.VmRole;

/** Appraises a worker's evidence against its slot, the nonce, the circuit and the owners' policy. */
final class EvidenceAppraiser {
    private final WorkerAdmission.Context terms;
    private final HandoverLedger spent;

    EvidenceAppraiser(WorkerAdmission.Context terms, HandoverLedger spent) {
        this.terms = terms;
        this.spent = spent;
    }

    /**
     * Appraises a worker's evidence.
     *
     * @param nonce that was sent to the worker
     */
    AttestationResult appraise(
            ExpectedWorkers.ExpectedSlot place, WorkerSession on, Nonce nonce, VmMessage.Evidence shown, Instant now)
            throws IOException {
        String ticket = place.ticket();
        int slot = place.slot().slot();
        ProjectPolicy policy = terms.policy();
        return EvidenceVerifier.appraise(
                policy,
                new ReferenceValues(
                        VmRole.WORKER,
                        ticket,
                        slot,
                        place.slot().key(),
                        terms.hostTrust().untrusted().test(place.slot().key()),
                        nonce,
                        on.circuit().peerIdentity().key(),
                        binding(on),
                        true,
                        terms.driveIntegrity(),
                        spent.isSpent(ticket, slot),
                        spent.handoverCount(policy.serial())),
                DsseEnvelope.parse(shown.statement().toByteArray(), EvidenceMessage.MAX_ENVELOPE),
                now);
    }

    private static CircuitBinding binding(WorkerSession on) throws IOException {
        try {
            X509Certificate peer =
                    (X509Certificate) on.circuit().peerCertificates().get(0);
            return CircuitBinding.of(on.own().chain().get(0).getEncoded(), peer.getEncoded());
        } catch (CertificateEncodingException e) {
            throw new IOException("circuit: a certificate has no DER", e);
        }
    }
}
