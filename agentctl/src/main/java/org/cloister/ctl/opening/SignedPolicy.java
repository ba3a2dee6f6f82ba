package org.cloister.ctl.opening;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.ctl.profile.NamedContents;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.EnvelopeRefusedException;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.policy.PolicySuccession;
import org.cloister.protocol.policy.ProjectPolicy;
import org.jspecify.annotations.Nullable;

/**
 * Owners' policy by which an opener appraises VMs: the newest one that this device has accepted, stored beside its
 * keys, so that an older one cannot replace it.
 *
 * @param envelope the envelope that its owners signed
 * @param hash the hash by which circuits name it
 */
public record SignedPolicy(ByteString envelope, ProjectPolicy policy, Digest hash) {
    /** Limit of the envelope in bytes. */
    public static final int MAX_ENVELOPE = 1536 * 1024;

    /**
     * Returns the newest policy, and stores a policy that the person names.
     *
     * @param kept file in which this device stores its newest policy
     * @param named policy that the person names, which replaces the stored one if it is a valid successor; null for the
     *     stored one
     * @throws IOException if there is none, too few owners signed it, or it is not a valid successor; the text lists
     *     all problems
     */
    static SignedPolicy loadNewest(Path kept, @Nullable NamedContents named, ProjectHistory owners, Instant now)
            throws IOException {
        if (named == null) {
            if (!AtomicFile.exists(kept)) {
                throw new IOException(kept + ": no project policy is stored; name it once with --policy");
            }
            SignedPolicy own = read(NamedContents.read(kept, MAX_ENVELOPE), owners);
            if (!own.policy.isValid(now)) {
                throw new IOException(kept + ": want a policy that is valid at " + now + ", have " + own.policy.from()
                        + " to " + own.policy.until() + "; name the owners' next one with --policy");
            }
            return own;
        }
        SignedPolicy next = read(named, owners);
        Optional<byte[]> before = AtomicFile.exists(kept)
                ? Optional.of(claimed(NamedContents.read(kept, MAX_ENVELOPE)))
                : Optional.empty();
        if (before.isPresent() && ProjectPolicy.hash(before.get()).equals(next.hash)) {
            return loadNewest(kept, null, owners, now);
        }
        Optional<ProjectPolicy> current =
                before.isPresent() ? Optional.of(ProjectPolicy.parse(before.get())) : Optional.empty();
        List<String> problems = PolicySuccession.problems(owners.id(), current, next.policy, now);
        if (!problems.isEmpty()) {
            throw new IOException(named.name() + ": " + String.join("; ", problems));
        }
        Files.createDirectories(kept.toAbsolutePath().getParent());
        AtomicFile.replace(kept, next.envelope.toByteArray());
        return next;
    }

    /**
     * Returns whether a policy has a higher serial than the stored one, or none is stored. Neither is verified here.
     */
    static boolean isNewer(NamedContents policy, Path kept) throws IOException {
        return !AtomicFile.exists(kept)
                || claimedSerial(policy) > claimedSerial(NamedContents.read(kept, MAX_ENVELOPE));
    }

    /** Returns the serial of a policy that was verified when it was stored. */
    public static long claimedSerial(NamedContents stored) throws IOException {
        return ProjectPolicy.parse(claimed(stored)).serial();
    }

    /** Returns the hash of a policy that was verified when it was stored. */
    public static Digest claimedHash(NamedContents stored) throws IOException {
        return ProjectPolicy.hash(claimed(stored));
    }

    /**
     * Reads and verifies a policy.
     *
     * @throws IOException if too few owners signed it, or it is another project's
     */
    public static SignedPolicy read(NamedContents file, ProjectHistory owners) throws IOException {
        try {
            byte[] payload = DsseEnvelope.parse(file.bytes().toByteArray(), MAX_ENVELOPE)
                    .verify(
                            ProjectPolicy.TYPE,
                            owners.ownerKeys(),
                            owners.owners().threshold());
            ProjectPolicy policy = ProjectPolicy.parse(payload);
            if (!policy.project().equals(owners.id())) {
                throw new MalformedException("want a policy of " + owners.id() + ", have one of " + policy.project());
            }
            return new SignedPolicy(file.bytes(), policy, ProjectPolicy.hash(payload));
        } catch (EnvelopeRefusedException | MalformedException e) {
            throw new IOException(file.name() + ": " + e.getMessage(), e);
        }
    }

    /**
     * Returns the stored policy without verification. It was verified when it was accepted; owners who signed it may
     * have left since.
     */
    private static byte[] claimed(NamedContents stored) throws IOException {
        try {
            return DsseEnvelope.parse(stored.bytes().toByteArray(), MAX_ENVELOPE)
                    .unverifiedPayload();
        } catch (MalformedException e) {
            throw new IOException(stored.name() + ": " + e.getMessage(), e);
        }
    }
}
