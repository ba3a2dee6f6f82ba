package org.cloister.vm.worker;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.cloister.ipsec.DerCertificate;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.protocol.handover.ReadmissionGrant;
import org.cloister.protocol.handover.VmAssignment;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.worker.steps.AcceptedHandover;

/**
 * Accepts or refuses a hand-over or a readmission: it must be for this VM, in answer to its evidence, and for the keys
 * of this boot.
 */
final class HandoverVerifier {
    private final VmAssignment assignment;
    private final BootKeyPairs keys;

    HandoverVerifier(VmAssignment assignment, BootKeyPairs keys) {
        this.assignment = assignment;
        this.keys = keys;
    }

    /**
     * Accepts a hand-over.
     *
     * @param vm its id in the host's statement
     * @param nonce of the question that the statement answered
     */
    AcceptedHandover accept(HandoverDocument handOver, String vm, Nonce nonce) throws HandoverRefused {
        requirePlace(handOver.target(), handOver.name(), vm, nonce);
        require("controller", assignment.requester(), handOver.controller());
        Instant until = until(handOver.certificates(), handOver.time());
        try {
            return new AcceptedHandover(
                    handOver,
                    handOver.certificates(),
                    List.of(),
                    handOver.time(),
                    until,
                    TlsCredential.of(keys.signing(), der(handOver.certificates())),
                    keys.open(
                            handOver.sealingContext(),
                            handOver.mungeKey().bytes().toByteArray()),
                    handOver.lease(),
                    handOver.policy());
        } catch (IOException e) {
            throw new HandoverRefused("munge-key", String.valueOf(e.getMessage()), e);
        }
    }

    /**
     * Accepts a readmission.
     *
     * @param before what the worker has
     * @param fresh value with which the circuit was resumed
     */
    AcceptedHandover accept(ReadmissionGrant readmission, AcceptedHandover before, String vm, Nonce fresh)
            throws HandoverRefused {
        requirePlace(readmission.target(), readmission.name(), vm, fresh);
        Instant until = until(readmission.certificates(), readmission.time());
        try {
            SecretMemory munge = readmission.mungeKey().isEmpty()
                    ? before.mungeKey()
                    : keys.open(
                            readmission.sealingContext(),
                            readmission.mungeKey().get().bytes().toByteArray());
            return new AcceptedHandover(
                    before.handOver(),
                    readmission.certificates(),
                    holding(before.authorities(), readmission.time()),
                    readmission.time(),
                    until,
                    TlsCredential.of(keys.signing(), der(readmission.certificates())),
                    munge,
                    readmission.lease(),
                    readmission.policy());
        } catch (IOException e) {
            throw new HandoverRefused("munge-key", String.valueOf(e.getMessage()), e);
        }
    }

    private static List<byte[]> der(List<ByteString> certificates) {
        return certificates.stream().map(ByteString::toByteArray).toList();
    }

    /** Returns the authorities whose certificates have not expired: what an expired one issued has expired, too. */
    private static List<ByteString> holding(List<ByteString> authorities, Instant now) throws IOException {
        List<ByteString> holding = new ArrayList<>();
        for (ByteString each : authorities) {
            if (now.isBefore(DerCertificate.parse(each.toByteArray()).notAfter())) {
                holding.add(each);
            }
        }
        return holding;
    }

    private void requirePlace(HandoverTarget place, CertificateName name, String vm, Nonce nonce)
            throws HandoverRefused {
        require("ticket", assignment.ticket(), place.ticket());
        require("slot", assignment.slot(), place.slot());
        require("vm", vm, place.vm());
        if (!place.nonce().equals(nonce)) {
            throw new HandoverRefused("nonce", "nonce: want that of the question, have another's");
        }
        require("name", assignment.name(), name);
    }

    private static void require(String what, Object want, Object have) throws HandoverRefused {
        if (!want.equals(have)) {
            throw new HandoverRefused("for-another-" + what, what + ": want " + want + ", have " + have);
        }
    }

    /**
     * Verifies the chain at the time that comes with it, since this VM's own clock is its host's.
     *
     * @return when its leaf expires
     */
    private Instant until(List<ByteString> chain, Instant now) throws HandoverRefused {
        CertifiedIdentity own;
        try {
            own = CertificateChain.parse(der(chain))
                    .verifyUnlisted(
                            Set.of(CertificateRole.WORKER), TrustAnchors.none().withProject(assignment.project()), now);
        } catch (IOException e) {
            throw new HandoverRefused("certificate", String.valueOf(e.getMessage()), e);
        }
        if (!own.key().equals(keys.publicKeys().signing())) {
            throw new HandoverRefused(
                    "certificate-key",
                    "certificate: want one for " + keys.publicKeys().signing() + ", have one for " + own.key());
        }
        return own.notAfter();
    }
}
