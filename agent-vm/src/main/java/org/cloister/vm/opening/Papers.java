package org.cloister.vm.opening;

import com.google.protobuf.ByteString;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.Digest;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.policy.Policy;
import org.cloister.protocol.policy.Succession;

/**
 * What the owners have signed: who they are, and what they demand.
 *
 * @param hash of the policy's payload, SHA-384
 * @param envelope the policy's, as it came
 */
public record Papers(ProjectHistory project, Policy policy, Digest hash, ByteString envelope) {
    /**
     * Whether these may take the place of those that the drive has seen last.
     *
     * @param now by the opener's clock
     * @throws UnlockRefused if they are older, or of another branch
     */
    public void requireAfter(Papers seen, Instant now) throws UnlockRefused {
        int number = seen.project.number();
        if (number > project.number() || !seen.project.documentId(number).equals(project.documentId(number))) {
            throw new UnlockRefused(
                    Refusal.OLDER_DOCUMENTS,
                    "documents: want those that go on from number " + number + ", which the drive has seen, have up to "
                            + project.number() + "; open it with the newest");
        }
        if (seen.hash.equals(hash)) {
            return;
        }
        List<String> problems = Succession.problems(project.id(), Optional.of(seen.policy), policy, now);
        if (!problems.isEmpty()) {
            throw new UnlockRefused(
                    Refusal.OLDER_POLICY,
                    "policy " + policy.serial() + " after " + seen.policy.serial() + ", which the drive has seen: "
                            + String.join("; ", problems));
        }
    }
}
