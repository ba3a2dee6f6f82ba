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
    private final AdmissionContext context;
    private final HandoverLedger ledger;

    EvidenceAppraiser(AdmissionContext context, HandoverLedger ledger) {
        this.context = context;
        this.ledger = ledger;
    }

    /**
     * Appraises a worker's evidence.
     *
     * @param nonce that was sent to the worker
     */
    AttestationResult appraise(
            ExpectedWorkers.ExpectedSlot expected,
            WorkerSession session,
            Nonce nonce,
            VmMessage.Evidence evidence,
            Instant now)
            throws IOException {
        String ticket = expected.ticket();
        int slot = expected.slot().slot();
        ProjectPolicy policy = context.policy();
        return EvidenceVerifier.appraise(
                policy,
                new ReferenceValues(
                        VmRole.WORKER,
                        ticket,
                        slot,
                        expected.slot().key(),
                        context.hostTrust().untrusted().test(expected.slot().key()),
                        nonce,
                        session.circuit().peerIdentity().key(),
                        binding(session),
                        true,
                        context.driveIntegrity(),
                        ledger.isSpent(ticket, slot),
                        ledger.handoverCount(policy.serial())),
                DsseEnvelope.parse(evidence.statement().toByteArray(), EvidenceMessage.MAX_ENVELOPE),
                now);
    }

    private static CircuitBinding binding(WorkerSession session) throws IOException {
        try {
            X509Certificate peer =
                    (X509Certificate) session.circuit().peerCertificates().get(0);
            return CircuitBinding.of(session.own().chain().get(0).getEncoded(), peer.getEncoded());
        } catch (CertificateEncodingException e) {
            throw new IOException("circuit: a certificate has no DER", e);
        }
    }
}
