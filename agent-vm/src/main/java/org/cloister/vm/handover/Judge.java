package org.cloister.vm.handover;

import java.io.IOException;
import java.security.cert.CertificateEncodingException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.evidence.CircuitBinding;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.Expectation;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.Verdict;
import org.cloister.protocol.evidence.Verifier;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.policy.Policy;
import org.cloister.protocol.policy.VmRole;

/** Holds what a worker shows against its slot, the question, the circuit and the owners' policy. */
final class Judge {
    private final HandOverDesk.Terms terms;
    private final SpentBook spent;

    Judge(HandOverDesk.Terms terms, SpentBook spent) {
        this.terms = terms;
        this.spent = spent;
    }

    /** @param nonce of the question that it answers */
    Verdict judge(Expected.Place place, WorkerTalk on, Nonce nonce, VmMessage.Shown shown, Instant now)
            throws IOException {
        String ticket = place.ticket();
        int slot = place.slot().slot();
        Policy policy = terms.policy();
        return Verifier.decide(
                policy,
                new Expectation(
                        VmRole.WORKER,
                        ticket,
                        slot,
                        place.slot().key(),
                        terms.hosts().revoked().test(place.slot().key()),
                        nonce,
                        on.circuit().shown().key(),
                        binding(on),
                        true,
                        terms.driveIntegrity(),
                        spent.isSpent(ticket, slot),
                        spent.released(policy.serial())),
                Envelope.parse(shown.statement().toByteArray(), EvidenceMessage.MAX_ENVELOPE),
                now);
    }

    private static CircuitBinding binding(WorkerTalk on) throws IOException {
        try {
            X509Certificate peer =
                    (X509Certificate) on.circuit().peerCertificates().get(0);
            return CircuitBinding.of(on.own().chain().get(0).getEncoded(), peer.getEncoded());
        } catch (CertificateEncodingException e) {
            throw new IOException("circuit: a certificate has no DER", e);
        }
    }
}
