package org.cloister.vm.opening;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.handover.Assignment;
import org.cloister.protocol.handover.Place;
import org.cloister.protocol.handover.Unlock;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Authority;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.identity.Signer;
import org.cloister.protocol.policy.Policy;

/**
 * Whether a controlling VM takes what its opener brings: each paper is held against the project of the assignment and against
 * this boot's key. No I/O, and the only time is the opener's: the VM's clock is its host's.
 */
public final class Unlocking {
    private final Self self;
    private final Unlock unlock;
    private final SecureRandom random;

    /**
     * What the VM knows itself.
     *
     * @param key of this boot, and {@code signer} has its private half
     */
    public record Self(Assignment assignment, VerificationKey key, Signer signer) {}

    private Unlocking(Self self, Unlock unlock, SecureRandom random) {
        this.self = self;
        this.unlock = unlock;
        this.random = random;
    }

    /**
     * @param asked what the VM has shown evidence for
     * @throws UnlockRefused with the first reason
     */
    public static Unlocked decide(Self self, Place asked, Unlock unlock, SecureRandom random) throws UnlockRefused {
        if (!unlock.place().equals(asked)) {
            throw new UnlockRefused(
                    Refusal.PLACE, "unlock: want one for " + asked + ", have one for " + unlock.place());
        }
        return new Unlocking(self, unlock, random).decide();
    }

    private Unlocked decide() throws UnlockRefused {
        ProjectHistory project = documents();
        VmAuthority authority = authority(project);
        return new Unlocked(
                unlock.place(),
                papers(project),
                authority,
                Set.copyOf(unlock.siteKeys()),
                unlock.epoch(),
                unlock.driveKey(),
                unlock.create(),
                unlock.time(),
                unlock.station(),
                Brought.of(unlock));
    }

    private ProjectHistory documents() throws UnlockRefused {
        ProjectHistory host = self.assignment.project();
        ProjectHistory brought;
        try {
            brought = ProjectHistory.of(
                    unlock.documents().stream().map(ByteString::toByteArray).toList());
        } catch (IOException e) {
            throw new UnlockRefused(Refusal.DOCUMENTS, e);
        }
        if (!brought.id().equals(host.id())
                || brought.number() < host.number()
                || !brought.documentId(host.number()).equals(host.documentId(host.number()))) {
            throw new UnlockRefused(
                    Refusal.DOCUMENTS,
                    "documents: want those of " + host.id() + " from number " + host.number() + " on, have those of "
                            + brought.id() + " up to " + brought.number());
        }
        return brought;
    }

    /** Proven by using it: what it issues for the VM's own name is verified as anybody would. */
    private VmAuthority authority(ProjectHistory project) throws UnlockRefused {
        Name own = self.assignment.name();
        Instant now = unlock.time();
        List<byte[]> above =
                unlock.authorities().stream().map(ByteString::toByteArray).toList();
        try {
            Authority authority = Authority.load(above.get(0), self.signer, random);
            List<String> wanted = List.of(own.toString(), Name.ofRole(Role.WORKER.toString(), project.id()));
            if (!authority.key().equals(self.key) || !authority.permitted().equals(wanted)) {
                throw new UnlockRefused(
                        Refusal.AUTHORITY,
                        "authority: want " + wanted + " for key " + self.key.id() + ", have " + authority.permitted()
                                + " for key " + authority.key().id());
            }
            VmAuthority proven = new VmAuthority(authority, above);
            Chain.parse(proven.certify(own, self.key, now))
                    .verifyUnlisted(Set.of(Role.CONTROLLER), Anchors.none().withProject(project), now);
            return proven;
        } catch (UnlockRefused e) {
            throw e;
        } catch (IOException e) {
            throw new UnlockRefused(Refusal.AUTHORITY, e);
        }
    }

    private Papers papers(ProjectHistory project) throws UnlockRefused {
        byte[] payload;
        Policy policy;
        try {
            byte[] envelope = unlock.policy().toByteArray();
            payload = Envelope.parse(envelope, envelope.length)
                    .verify(Policy.TYPE, project.ownerKeys(), project.owners().threshold());
            policy = Policy.parse(payload);
        } catch (IOException e) {
            throw new UnlockRefused(Refusal.POLICY, e);
        }
        if (!policy.project().equals(project.id()) || !policy.isValid(unlock.time())) {
            throw new UnlockRefused(
                    Refusal.POLICY,
                    "policy: want one of " + project.id() + " that holds at " + unlock.time() + ", have one of "
                            + policy.project() + " from " + policy.from() + " to " + policy.until());
        }
        return new Papers(project, policy, Policy.hash(payload), unlock.policy());
    }
}
