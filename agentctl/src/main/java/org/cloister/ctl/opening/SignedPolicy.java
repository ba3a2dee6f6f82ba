package org.cloister.ctl.opening;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.cloister.ctl.key.Pem;
import org.cloister.protocol.Digest;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.StrictJson;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.EnvelopeRefused;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.WholeFile;
import org.cloister.protocol.policy.Policy;
import org.cloister.protocol.policy.Succession;
import org.jspecify.annotations.Nullable;

/**
 * The owners' policy by which an opener judges VMs: the newest that this device ever took, kept beside its keys, so that
 * nobody brings it an older one.
 *
 * @param envelope as its owners signed it
 * @param hash by which circuits name it
 */
record SignedPolicy(ByteString envelope, Policy policy, Digest hash) {
    private static final int MAX_ENVELOPE = 1536 * 1024;

    /**
     * @param kept where this device has its newest
     * @param named by the person; it takes the place of the kept one, if it may. Null for the kept one
     * @throws IOException if there is none, or too few owners signed it, or all that speaks against it
     */
    static SignedPolicy take(Path kept, @Nullable Path named, ProjectHistory owners, Instant now) throws IOException {
        if (named == null) {
            if (!WholeFile.isThere(kept)) {
                throw new IOException(kept + ": want the owners' policy, have none; name it once with --policy");
            }
            SignedPolicy own = read(kept, owners);
            if (!own.policy.isValid(now)) {
                throw new IOException(kept + ": want a policy that holds at " + now + ", have " + own.policy.from()
                        + " to " + own.policy.until() + "; name the owners' next one with --policy");
            }
            return own;
        }
        SignedPolicy next = read(named, owners);
        Optional<byte[]> before = WholeFile.isThere(kept) ? Optional.of(claimed(kept)) : Optional.empty();
        if (before.isPresent() && Policy.hash(before.get()).equals(next.hash)) {
            return take(kept, null, owners, now);
        }
        Optional<Policy> current = before.isPresent() ? Optional.of(Policy.parse(before.get())) : Optional.empty();
        List<String> problems = Succession.problems(owners.id(), current, next.policy, now);
        if (!problems.isEmpty()) {
            throw new IOException(named + ": " + String.join("; ", problems));
        }
        Files.createDirectories(kept.toAbsolutePath().getParent());
        WholeFile.replace(kept, next.envelope.toByteArray());
        return next;
    }

    private static SignedPolicy read(Path file, ProjectHistory owners) throws IOException {
        byte[] bytes = Pem.bytes(file, MAX_ENVELOPE);
        try {
            byte[] payload = Envelope.parse(bytes, MAX_ENVELOPE)
                    .verify(Policy.TYPE, owners.ownerKeys(), owners.owners().threshold());
            Policy policy = Policy.parse(payload);
            if (!policy.project().equals(owners.id())) {
                throw new MalformedException("want a policy of " + owners.id() + ", have one of " + policy.project());
            }
            return new SignedPolicy(ByteString.copyFrom(bytes), policy, Policy.hash(payload));
        } catch (EnvelopeRefused | MalformedException e) {
            throw new IOException(file + ": " + e.getMessage(), e);
        }
    }

    /** What was verified when it was taken: since then owners may have gone who signed it. */
    private static byte[] claimed(Path kept) throws IOException {
        try {
            return StrictJson.read(Pem.bytes(kept, MAX_ENVELOPE), MAX_ENVELOPE, MAX_ENVELOPE)
                    .base64("payload", Policy.MAX_BYTES);
        } catch (MalformedException e) {
            throw new IOException(kept + ": " + e.getMessage(), e);
        }
    }
}
