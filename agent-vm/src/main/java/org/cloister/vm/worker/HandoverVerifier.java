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
    AcceptedHandover accept(HandoverDocument handover, String vm, Nonce nonce) throws HandoverRefused {
        requireTarget(handover.target(), handover.name(), vm, nonce);
        require("controller", assignment.requester(), handover.controller());
        Instant until = expiryOf(handover.certificates(), handover.time());
        try {
            return new AcceptedHandover(
                    handover,
                    handover.certificates(),
                    List.of(),
                    handover.time(),
                    until,
                    TlsCredential.of(keys.signing(), der(handover.certificates())),
                    keys.open(
                            handover.sealingContext(),
                            handover.mungeKey().bytes().toByteArray()),
                    handover.lease(),
                    handover.policy());
        } catch (IOException e) {
            throw new HandoverRefused("munge-key", String.valueOf(e.getMessage()), e);
        }
    }

    /**
     * Accepts a readmission.
     *
     * @param previous what the worker has
     * @param nonce value with which the circuit was resumed
     */
    AcceptedHandover accept(ReadmissionGrant readmission, AcceptedHandover previous, String vm, Nonce nonce)
            throws HandoverRefused {
        requireTarget(readmission.target(), readmission.name(), vm, nonce);
        Instant until = expiryOf(readmission.certificates(), readmission.time());
        try {
            SecretMemory munge = readmission.mungeKey().isEmpty()
                    ? previous.mungeKey()
                    : keys.open(
                            readmission.sealingContext(),
                            readmission.mungeKey().get().bytes().toByteArray());
            return new AcceptedHandover(
                    previous.handOver(),
                    readmission.certificates(),
                    validAuthorities(previous.authorities(), readmission.time()),
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
    private static List<ByteString> validAuthorities(List<ByteString> authorities, Instant now) throws IOException {
        List<ByteString> valid = new ArrayList<>();
        for (ByteString each : authorities) {
            if (now.isBefore(DerCertificate.parse(each.toByteArray()).notAfter())) {
                valid.add(each);
            }
        }
        return valid;
    }

    private void requireTarget(HandoverTarget target, CertificateName name, String vm, Nonce nonce)
            throws HandoverRefused {
        require("ticket", assignment.ticket(), target.ticket());
        require("slot", assignment.slot(), target.slot());
        require("vm", vm, target.vm());
        if (!target.nonce().equals(nonce)) {
            throw new HandoverRefused("nonce", "nonce: want that of the question, have another's");
        }
        require("name", assignment.name(), name);
    }

    private static void require(String field, Object expected, Object actual) throws HandoverRefused {
        if (!expected.equals(actual)) {
            throw new HandoverRefused("for-another-" + field, field + ": want " + expected + ", have " + actual);
        }
    }

    /**
     * Verifies the chain at the time that comes with it, since this VM's own clock is its host's.
     *
     * @return when its leaf expires
     */
    private Instant expiryOf(List<ByteString> chain, Instant now) throws HandoverRefused {
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
