package org.cloister.host.receipt;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import org.cloister.host.vm.VmOwner;
import org.cloister.protocol.Digest;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.receipt.HostPart;
import org.cloister.protocol.receipt.ScratchEnd;
import org.cloister.protocol.receipt.VmEnd;

/**
 * What this host knows of a worker VM that was to run. It grows, and what is known stays: of two words the first.
 *
 * @param ticket the digest of its payload
 * @param started just before the VM was resumed
 * @param scratch how its scratch disk was erased; empty while it is not, and if that is not known
 */
record Life(
        VmOwner owner,
        VmFacts facts,
        Digest ticket,
        Instant started,
        Optional<Ended> ended,
        Optional<ScratchEnd> scratch,
        Optional<Signed> signed) {
    /** @param at when its process was known to be gone */
    record Ended(Instant at, VmEnd why) {}

    /** @param envelope of the host's part, JSON in ASCII */
    record Signed(Instant at, String envelope) {}

    /** @throws IllegalArgumentException if owner and facts do not go together, or it is no worker's */
    Life {
        VmFacts other = new VmFacts(
                owner.project(),
                owner.life(),
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

    static Life of(VmOwner owner, VmFacts facts, Digest ticket, Instant started) {
        return new Life(owner, facts, ticket, started, Optional.empty(), Optional.empty(), Optional.empty());
    }

    boolean isSigned() {
        return signed.isPresent();
    }

    Life ended(Instant at, VmEnd why) {
        Ended its = ended.orElse(new Ended(at.truncatedTo(ChronoUnit.SECONDS), why));
        return new Life(owner, facts, ticket, started, Optional.of(its), scratch, signed);
    }

    Life erased(ScratchEnd how) {
        return new Life(owner, facts, ticket, started, ended, Optional.of(scratch.orElse(how)), signed);
    }

    /**
     * With the host's part of what is known. Nothing is added to it later.
     *
     * @param removed when nothing of the VM was found any more; empty if something may be left
     */
    Life signed(Optional<Instant> removed, Instant now, SigningKey key) throws GeneralSecurityException {
        Ended its = ended.orElse(new Ended(now, VmEnd.GONE));
        Optional<ScratchEnd> how = facts.shape().scratchMib() == 0 ? Optional.of(ScratchEnd.NONE) : scratch;
        HostPart part = new HostPart(facts, ticket, owner.globalJob(), started, its.at(), its.why(), how, removed);
        Signed made = new Signed(
                now.truncatedTo(ChronoUnit.SECONDS), new String(part.sign(key).bytes(), StandardCharsets.US_ASCII));
        return new Life(owner, facts, ticket, started, ended, scratch, Optional.of(made));
    }
}
