package org.cloister.vm.controller.unlock;

import com.google.protobuf.ByteString;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.policy.PolicySuccession;
import org.cloister.protocol.policy.ProjectPolicy;

/**
 * Documents signed by the owners: who they are, and what they require.
 *
 * @param policyHash SHA-384 of the policy's payload
 * @param policyEnvelope the policy's, as received
 */
public record ProjectDocuments(
        ProjectHistory history, ProjectPolicy policy, Digest policyHash, ByteString policyEnvelope) {
    /**
     * Verifies that these documents may replace those that the drive has seen last.
     *
     * @param now by the opener's clock
     * @throws UnlockRefused if they are older, or of another branch
     */
    public void requireSuccessorOf(ProjectDocuments previous, Instant now) throws UnlockRefused {
        int number = previous.history.number();
        if (number > history.number() || !previous.history.documentId(number).equals(history.documentId(number))) {
            throw new UnlockRefused(
                    UnlockRefusal.OLDER_DOCUMENTS,
                    "documents: want successors of number " + number + ", which the drive has seen, have those up to "
                            + history.number() + "; open the project with the newest");
        }
        if (previous.policyHash.equals(policyHash)) {
            return;
        }
        List<String> problems = PolicySuccession.problems(history.id(), Optional.of(previous.policy), policy, now);
        if (!problems.isEmpty()) {
            throw new UnlockRefused(
                    UnlockRefusal.OLDER_POLICY,
                    "policy " + policy.serial() + " after " + previous.policy.serial() + ", which the drive has seen: "
                            + String.join("; ", problems));
        }
    }
}
