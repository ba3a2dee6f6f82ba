package org.cloister.vm.controller.unlock;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.protocol.handover.ProjectUnlock;
import org.cloister.protocol.handover.VmAssignment;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertificateSigner;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.policy.ProjectPolicy;

/**
 * Verifies an unlock: each document against the project of the assignment and this boot's key. Without I/O; the only
 * time is the opener's, since the VM's clock comes from its host.
 */
public final class UnlockVerification {
    private final VmIdentity identity;
    private final ProjectUnlock unlock;
    private final SecureRandom random;

    /**
     * The VM's own identity, which it knows without the unlock.
     *
     * @param key of this boot, whose private half {@code signer} has
     */
    public record VmIdentity(VmAssignment assignment, VerificationKey key, CertificateSigner signer) {}

    private UnlockVerification(VmIdentity identity, ProjectUnlock unlock, SecureRandom random) {
        this.identity = identity;
        this.unlock = unlock;
        this.random = random;
    }

    /**
     * Verifies an unlock.
     *
     * @param target that the VM has shown evidence for
     * @throws UnlockRefused with the first reason
     */
    public static VerifiedUnlock verify(
            VmIdentity identity, HandoverTarget target, ProjectUnlock unlock, SecureRandom random)
            throws UnlockRefused {
        if (!unlock.target().equals(target)) {
            throw new UnlockRefused(
                    UnlockRefusal.PLACE, "unlock: want one for " + target + ", have one for " + unlock.target());
        }
        return new UnlockVerification(identity, unlock, random).verify();
    }

    private VerifiedUnlock verify() throws UnlockRefused {
        ProjectHistory project = verifyHistory();
        ControllerAuthority authority = verifyAuthority(project);
        return new VerifiedUnlock(
                unlock.target(),
                verifyPolicy(project),
                authority,
                Set.copyOf(unlock.siteKeys()),
                unlock.epoch(),
                unlock.driveKey(),
                unlock.create(),
                unlock.time(),
                unlock.network(),
                OpeningFiles.of(unlock));
    }

    private ProjectHistory verifyHistory() throws UnlockRefused {
        ProjectHistory assigned = identity.assignment.project();
        ProjectHistory history;
        try {
            history = ProjectHistory.of(
                    unlock.documents().stream().map(ByteString::toByteArray).toList());
        } catch (IOException e) {
            throw new UnlockRefused(UnlockRefusal.DOCUMENTS, e);
        }
        if (!history.id().equals(assigned.id())
                || history.number() < assigned.number()
                || !history.documentId(assigned.number()).equals(assigned.documentId(assigned.number()))) {
            throw new UnlockRefused(
                    UnlockRefusal.DOCUMENTS,
                    "documents: want those of " + assigned.id() + " from number " + assigned.number()
                            + " on, have those of " + history.id() + " up to " + history.number());
        }
        return history;
    }

    /**
     * Verifies the authority by use: a certificate that it issues for the VM's own name is verified as any peer would
     * do.
     */
    private ControllerAuthority verifyAuthority(ProjectHistory project) throws UnlockRefused {
        CertificateName name = identity.assignment.name();
        Instant now = unlock.time();
        List<byte[]> issuers =
                unlock.authorities().stream().map(ByteString::toByteArray).toList();
        try {
            CertificateAuthority authority = CertificateAuthority.load(issuers.get(0), identity.signer, random);
            List<String> expected =
                    List.of(name.toString(), CertificateName.ofRole(CertificateRole.WORKER.toString(), project.id()));
            if (!authority.key().equals(identity.key) || !authority.permitted().equals(expected)) {
                throw new UnlockRefused(
                        UnlockRefusal.AUTHORITY,
                        "authority: want " + expected + " for key " + identity.key.id() + ", have "
                                + authority.permitted() + " for key "
                                + authority.key().id());
            }
            ControllerAuthority verified = new ControllerAuthority(authority, issuers);
            CertificateChain.parse(verified.issue(name, identity.key, now))
                    .verifyUnlisted(
                            Set.of(CertificateRole.CONTROLLER),
                            TrustAnchors.none().withProject(project),
                            now);
            return verified;
        } catch (UnlockRefused e) {
            throw e;
        } catch (IOException e) {
            throw new UnlockRefused(UnlockRefusal.AUTHORITY, e);
        }
    }

    private ProjectDocuments verifyPolicy(ProjectHistory project) throws UnlockRefused {
        byte[] payload;
        ProjectPolicy policy;
        try {
            byte[] envelope = unlock.policy().toByteArray();
            payload = DsseEnvelope.parse(envelope, envelope.length)
                    .verify(
                            ProjectPolicy.TYPE,
                            project.ownerKeys(),
                            project.owners().threshold());
            policy = ProjectPolicy.parse(payload);
        } catch (IOException e) {
            throw new UnlockRefused(UnlockRefusal.POLICY, e);
        }
        if (!policy.project().equals(project.id()) || !policy.isValid(unlock.time())) {
            throw new UnlockRefused(
                    UnlockRefusal.POLICY,
                    "policy: want one of " + project.id() + " that holds at " + unlock.time() + ", have one of "
                            + policy.project() + " from " + policy.from() + " to " + policy.until());
        }
        return new ProjectDocuments(project, policy, ProjectPolicy.hash(payload), unlock.policy());
    }
}
