package org.cloister.protocol.evidence;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.EnvelopeRefused;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.Verdict.Failure;
import org.cloister.protocol.policy.AssuranceLevel;
import org.cloister.protocol.policy.Policy;
import org.cloister.protocol.policy.Shape;

/** Holds a statement against the owners' policy and what the verifier knows itself; names every clause that denies. */
public final class Verifier {
    private final Policy policy;
    private final Expectation expected;
    private final Instant now;
    private final List<Failure> failures = new ArrayList<>();

    private Verifier(Policy policy, Expectation expected, Instant now) {
        this.policy = policy;
        this.expected = expected;
        this.now = now;
    }

    /** @param evidence from the circuit's other end, who may be anybody */
    public static Verdict decide(Policy policy, Expectation expected, Envelope evidence, Instant now) {
        byte[] payload;
        try {
            payload = evidence.verify(Statement.TYPE, List.of(expected.host()), 1);
        } catch (EnvelopeRefused e) {
            return refused(Clause.SIGNATURE, String.valueOf(e.getMessage()));
        }
        Statement statement;
        try {
            statement = Statement.parse(payload);
        } catch (MalformedException e) {
            return refused(Clause.FORMAT, e.getMessage() + "; bring host and controlling VM to one release");
        }
        return new Verifier(policy, expected, now).judge(statement);
    }

    private static Verdict refused(Clause clause, String text) {
        return new Verdict.Refused(List.of(new Failure(clause, text)));
    }

    private Verdict judge(Statement statement) {
        judgePolicy(statement.facts());
        judgeAllocation(statement.facts());
        judgeImageAndShape(statement.facts());
        judgeCircuit(statement.claim());
        AssuranceLevel level = judgeLevel(statement);
        judgeRecord(statement.facts());
        return failures.isEmpty() ? new Verdict.Accepted(statement, level) : new Verdict.Refused(failures);
    }

    private void judgePolicy(VmFacts facts) {
        require(
                Clause.PROJECT,
                facts.project().equals(policy.project()),
                policy.project(),
                facts.project(),
                "the host runs this VM for others");
        require(
                Clause.VALIDITY,
                policy.isValid(now),
                policy.from() + " to " + policy.until(),
                now.toString(),
                "have the owners sign policy " + (policy.serial() + 1) + ", or look at the clock");
        require(
                Clause.HOST,
                policy.accepts(expected.host()),
                "one of the " + policy.hosts().size() + " hosts of policy " + policy.serial(),
                expected.host().id(),
                "have the owners accept it, if they do");
        if (expected.hostRevoked()) {
            failures.add(hostRevoked(expected.host()));
        }
    }

    /** What denies a VM of this host also after the decision, until it was given anything. */
    public static Failure hostRevoked(VerificationKey host) {
        return failure(
                Clause.REVOKED,
                "a host that is not revoked",
                host.id(),
                "use another host, or enrol it anew and have it accepted");
    }

    private void judgeAllocation(VmFacts facts) {
        require(
                Clause.ROLE,
                facts.role() == expected.role(),
                expected.role().toString(),
                facts.role().toString(),
                "look who started the VM");
        require(
                Clause.TICKET,
                facts.ticket().equals(expected.ticket()),
                expected.ticket(),
                facts.ticket(),
                "look who started the VM");
        require(
                Clause.SLOT,
                facts.slot() == expected.slot(),
                Long.toString(expected.slot()),
                Long.toString(facts.slot()),
                "look who started the VM");
    }

    private void judgeImageAndShape(VmFacts facts) {
        require(
                Clause.IMAGE,
                policy.accepts(facts.image(), now),
                images(),
                facts.image().hex(),
                "install an accepted image on the host, or have the owners accept this one");
        Shape limit = policy.limit(facts.role());
        require(
                Clause.SIZE,
                facts.shape().within(limit),
                "at most " + limit,
                facts.shape().toString(),
                "ask for less, or have the owners allow more");
        require(
                Clause.SHARING,
                facts.sharing().within(policy.sharing()),
                policy.sharing() + " or less",
                facts.sharing().toString(),
                "have the site run the VM where it shares less");
    }

    private void judgeCircuit(Claim claim) {
        require(
                Clause.NONCE,
                claim.nonce().equals(expected.nonce()),
                expected.nonce().toString(),
                claim.nonce().toString(),
                "an old answer, or somebody else's; start the VM anew");
        require(
                Clause.CIRCUIT,
                claim.keys().signing().equals(expected.peer()),
                "the circuit's own, " + expected.peer(),
                claim.keys().signing().id(),
                "somebody shows another VM's statement; look at both");
        require(
                Clause.BINDING,
                claim.binding().equals(expected.binding()),
                expected.binding().toString(),
                claim.binding().toString(),
                "made for another circuit; start the VM anew");
    }

    private AssuranceLevel judgeLevel(Statement statement) {
        // Of what a host can send along, this release verifies nothing.
        AssuranceLevel evidence = AssuranceLevel.HOST_WORD;
        AssuranceLevel level = AssuranceLevel.minimum(evidence, expected.workerEncryption(), expected.driveIntegrity());
        String offered = statement.attachments().stream()
                .flatMap(each -> each.offered().stream())
                .map(each -> ", " + each + " offered and not verified in this release")
                .collect(Collectors.joining());
        String demanded = policy.level() == AssuranceLevel.HOST_WORD
                ? policy.level().toString()
                : policy.level() + ", which is not verified in this release";
        require(
                Clause.LEVEL,
                policy.level().compareTo(level) <= 0,
                demanded,
                level + " from evidence " + evidence + offered + ", worker encryption "
                        + (expected.workerEncryption() ? "on" : "off") + ", drive integrity "
                        + (expected.driveIntegrity() ? "on" : "off"),
                "have the owners accept the lower level by name, or wait for the release that verifies it");
        require(
                Clause.ENCRYPTION,
                !policy.workerEncryption() || expected.workerEncryption(),
                "workers inside IPsec",
                "clear traffic",
                "switch worker encryption on, or have the owners give it up by name");
        return level;
    }

    private void judgeRecord(VmFacts facts) {
        require(
                Clause.SPENT,
                !expected.spent(),
                "ticket " + expected.ticket() + " slot " + expected.slot() + " for the first time",
                "it again, from VM " + facts.vm(),
                "a new try needs a new ticket");
        require(
                Clause.RELEASES,
                expected.released() < policy.releases(),
                "fewer than " + policy.releases() + " hand-overs under policy " + policy.serial(),
                Long.toString(expected.released()),
                "have the owners sign policy " + (policy.serial() + 1));
    }

    private String images() {
        return policy.images().stream()
                .map(image -> image.identity()
                        + image.until().map(end -> " until " + end).orElse(""))
                .collect(Collectors.joining(", ", "one of policy " + policy.serial() + ", ", ""));
    }

    private void require(Clause clause, boolean holds, String want, String have, String remedy) {
        if (!holds) {
            failures.add(failure(clause, want, have, remedy));
        }
    }

    private static Failure failure(Clause clause, String want, String have, String remedy) {
        return new Failure(clause, "want " + want + ", have " + have + "; " + remedy);
    }
}
