package org.cloister.ctl.project;

import java.io.IOException;
import java.time.Instant;
import java.util.Optional;
import org.cloister.base.encoding.MalformedException;
import org.cloister.ctl.opening.SignedPolicy;
import org.cloister.ctl.profile.ProjectProfile;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.ProjectHistory;
import org.jspecify.annotations.Nullable;

/** Decision whether an invitation becomes this device's profile of its project, or replaces what it has. */
final class JoinDecision {
    private JoinDecision() {}

    /**
     * Verifies all parts of a new profile, and that none is older than the one that it replaces.
     *
     * @param expected the project's id as the person knows it; null if the person compares it afterwards
     * @param own the public half of the person's key
     * @return the person's certificate; empty for an owner who has none
     * @throws IOException if the profile must not be stored; the text says why
     */
    static Optional<PersonCertificate> requireAccepted(
            ProjectProfile next,
            Optional<ProjectProfile> before,
            @Nullable String expected,
            VerificationKey own,
            Instant now)
            throws IOException {
        if (expected != null && !expected.equals(next.id())) {
            throw new MalformedException("invitation: want one of project " + expected + ", have one of " + next.id()
                    + "; ask an owner whether --id or the file is wrong");
        }
        SignedPolicy policy = SignedPolicy.read(next.policy(), next.owners());
        if (!now.isBefore(policy.policy().until())) {
            throw new MalformedException("invitation: want a policy that is valid at " + now + ", have one until "
                    + policy.policy().until() + "; ask an owner for an invitation with the next policy");
        }
        if (before.isPresent()) {
            requireNotOlder(next, before.get(), policy);
        }
        if (next.certificate().isEmpty()) {
            if (!next.owners().ownerKeys().contains(own)) {
                throw new MalformedException("invitation: want a certificate of the key " + own + ", have none, and "
                        + "the key is no owner's; ask an owner: agentctl project member --invitation");
            }
            return Optional.empty();
        }
        PersonCertificate person =
                PersonCertificate.read(next.owners(), next.certificate().get());
        if (!person.key().equals(own)) {
            throw new MalformedException("invitation: want a certificate of the key " + own + ", have one of "
                    + person.key() + " for " + person.id() + "; name the key that was certified with --key");
        }
        if (!now.isBefore(person.notAfter())) {
            throw new MalformedException("invitation: want a certificate that is valid at " + now + ", have one until "
                    + person.notAfter() + "; ask an owner for the next one");
        }
        return Optional.of(person);
    }

    private static void requireNotOlder(ProjectProfile next, ProjectProfile before, SignedPolicy policy)
            throws IOException {
        requireSuccessor(next.owners(), before.owners());
        if (next.invitation().issued().isBefore(before.invitation().issued())) {
            throw new MalformedException("invitation: want one of "
                    + before.invitation().issued() + " or later, which this device has, have one of "
                    + next.invitation().issued() + "; ask an owner for a new one");
        }
        long stored = SignedPolicy.claimedSerial(before.policy());
        long serial = policy.policy().serial();
        if (serial < stored || (serial == stored && !policy.hash().equals(SignedPolicy.claimedHash(before.policy())))) {
            throw new MalformedException("invitation: want policy " + stored + " or a later one, which this device "
                    + "has, have another policy of serial " + serial + "; ask an owner for an invitation with the "
                    + "newest policy");
        }
    }

    /** A history never gets shorter, and two documents of one number are a fork. */
    private static void requireSuccessor(ProjectHistory next, ProjectHistory before) throws MalformedException {
        if (next.number() < before.number()) {
            throw new MalformedException("invitation: want the project's documents up to number " + before.number()
                    + ", which this device has, have those up to " + next.number() + "; ask an owner for a new one");
        }
        if (!next.documentId(before.number()).equals(before.documentId(before.number()))) {
            throw new MalformedException("invitation: want document " + before.documentId(before.number())
                    + " as number " + before.number() + ", have " + next.documentId(before.number())
                    + "; the owners signed two, so ask them which of the two holds");
        }
    }
}
