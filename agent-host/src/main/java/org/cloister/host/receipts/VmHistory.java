package org.cloister.host.receipts;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import org.cloister.base.encoding.Digest;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.receipt.HostStatement;
import org.cloister.protocol.receipt.ScratchDisposal;
import org.cloister.protocol.receipt.VmEndReason;

/**
 * Record of a worker VM that was about to run. Facts are only added, and the first value of each is kept.
 *
 * @param ticket digest of its payload
 * @param started time just before the VM was resumed
 * @param scratch how its scratch disk was erased; empty until then, and if that is unknown
 */
record VmHistory(
        ResourceOwner owner,
        VmFacts facts,
        Digest ticket,
        Instant started,
        Optional<EndOfRun> ended,
        Optional<ScratchDisposal> scratch,
        Optional<SignedStatement> signed) {
    /**
     * End of a VM's run.
     *
     * @param at when its process was known to be gone
     */
    record EndOfRun(Instant at, VmEndReason why) {}

    /**
     * Signed host statement.
     *
     * @param envelope JSON in ASCII
     */
    record SignedStatement(Instant at, String envelope) {}

    /** @throws IllegalArgumentException if owner and facts do not match, or the VM is not a worker */
    VmHistory {
        VmFacts other = new VmFacts(
                owner.project(),
                owner.vmId(),
                VmRole.WORKER,
                owner.ticket(),
                owner.slot(),
                facts.image(),
                facts.shape(),
                facts.sharing());
        if (!facts.equals(other)) {
            throw new IllegalArgumentException("facts: want those of worker " + owner.mark() + ", have " + facts);
        }
        started = started.truncatedTo(ChronoUnit.SECONDS);
    }

    static VmHistory of(ResourceOwner owner, VmFacts facts, Digest ticket, Instant started) {
        return new VmHistory(owner, facts, ticket, started, Optional.empty(), Optional.empty(), Optional.empty());
    }

    boolean isSigned() {
        return signed.isPresent();
    }

    VmHistory ended(Instant at, VmEndReason why) {
        EndOfRun its = ended.orElse(new EndOfRun(at.truncatedTo(ChronoUnit.SECONDS), why));
        return new VmHistory(owner, facts, ticket, started, Optional.of(its), scratch, signed);
    }

    VmHistory erased(ScratchDisposal how) {
        return new VmHistory(owner, facts, ticket, started, ended, Optional.of(scratch.orElse(how)), signed);
    }

    /**
     * Returns the history with the host statement of all known facts; later facts are not added.
     *
     * @param removed when nothing of the VM was found any longer; empty if something may be left
     */
    VmHistory signed(Optional<Instant> removed, Instant now, SigningKey key) throws GeneralSecurityException {
        EndOfRun its = ended.orElse(new EndOfRun(now, VmEndReason.GONE));
        Optional<ScratchDisposal> how = facts.shape().scratchMib() == 0 ? Optional.of(ScratchDisposal.NONE) : scratch;
        HostStatement part =
                new HostStatement(facts, ticket, owner.globalJob(), started, its.at(), its.why(), how, removed);
        SignedStatement made = new SignedStatement(
                now.truncatedTo(ChronoUnit.SECONDS), new String(part.sign(key).bytes(), StandardCharsets.US_ASCII));
        return new VmHistory(owner, facts, ticket, started, ended, scratch, Optional.of(made));
    }
}
