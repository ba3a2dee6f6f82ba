package org.cloister.protocol.evidence;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.EnvelopeRefusedException;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.AttestationResult.Failure;
import org.cloister.protocol.policy.AssuranceLevel;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.policy.VmShape;

/**
 * Appraises a statement against the owners' policy and the verifier's reference values; names every clause that denies.
 */
public final class EvidenceVerifier {
    private final ProjectPolicy policy;
    private final ReferenceValues expected;
    private final Instant now;
    private final List<Failure> failures = new ArrayList<>();

    private EvidenceVerifier(ProjectPolicy policy, ReferenceValues expected, Instant now) {
        this.policy = policy;
        this.expected = expected;
        this.now = now;
    }

    /**
     * Appraises evidence and names every clause that denies.
     *
     * @param evidence from the circuit's other end, which may be anyone
     */
    public static AttestationResult appraise(
            ProjectPolicy policy, ReferenceValues expected, DsseEnvelope evidence, Instant now) {
        byte[] payload;
        try {
            payload = evidence.verify(EvidenceStatement.TYPE, List.of(expected.host()), 1);
        } catch (EnvelopeRefusedException e) {
            return refused(EvidenceClause.SIGNATURE, String.valueOf(e.getMessage()));
        }
        EvidenceStatement statement;
        try {
            statement = EvidenceStatement.parse(payload);
        } catch (MalformedException e) {
            return refused(EvidenceClause.FORMAT, e.getMessage() + "; bring host and controlling VM to one release");
        }
        return new EvidenceVerifier(policy, expected, now).appraise(statement);
    }

    private static AttestationResult refused(EvidenceClause clause, String text) {
        return new AttestationResult.Refused(List.of(new Failure(clause, text)));
    }

    private AttestationResult appraise(EvidenceStatement statement) {
        appraisePolicy(statement.facts());
        appraiseAllocation(statement.facts());
        appraiseImageAndShape(statement.facts());
        appraiseCircuit(statement.claim());
        AssuranceLevel level = appraiseLevel(statement);
        appraiseRecord(statement.facts());
        return failures.isEmpty()
                ? new AttestationResult.Accepted(statement, level)
                : new AttestationResult.Refused(failures);
    }

    private void appraisePolicy(VmFacts facts) {
        require(
                EvidenceClause.PROJECT,
                facts.project().equals(policy.project()),
                policy.project(),
                facts.project(),
                "the host runs this VM for others");
        require(
                EvidenceClause.VALIDITY,
                policy.isValid(now),
                policy.from() + " to " + policy.until(),
                now.toString(),
                "have the owners sign policy " + (policy.serial() + 1) + ", or look at the clock");
        require(
                EvidenceClause.HOST,
                policy.accepts(expected.host()),
                "one of the " + policy.hosts().size() + " hosts of policy " + policy.serial(),
                expected.host().id(),
                "have the owners accept it, if they do");
        if (expected.hostRevoked()) {
            failures.add(hostRevoked(expected.host()));
        }
    }

    /**
     * Returns the failure for a revoked host. It denies the host's VM also after the decision, until something was
     * handed over.
     */
    public static Failure hostRevoked(VerificationKey host) {
        return failure(
                EvidenceClause.REVOKED,
                "a host that is not revoked",
                host.id(),
                "use another host, or enrol it anew and have it accepted");
    }

    private void appraiseAllocation(VmFacts facts) {
        require(
                EvidenceClause.ROLE,
                facts.role() == expected.role(),
                expected.role().toString(),
                facts.role().toString(),
                "look who started the VM");
        require(
                EvidenceClause.TICKET,
                facts.ticket().equals(expected.ticket()),
                expected.ticket(),
                facts.ticket(),
                "look who started the VM");
        require(
                EvidenceClause.SLOT,
                facts.slot() == expected.slot(),
                Long.toString(expected.slot()),
                Long.toString(facts.slot()),
                "look who started the VM");
    }

    private void appraiseImageAndShape(VmFacts facts) {
        require(
                EvidenceClause.IMAGE,
                policy.accepts(facts.image(), now),
                images(),
                facts.image().hex(),
                "install an accepted image on the host, or have the owners accept this one");
        VmShape limit = policy.limit(facts.role());
        require(
                EvidenceClause.SIZE,
                facts.shape().within(limit),
                "at most " + limit,
                facts.shape().toString(),
                "ask for less, or have the owners allow more");
        require(
                EvidenceClause.SHARING,
                facts.sharing().within(policy.sharing()),
                policy.sharing() + " or less",
                facts.sharing().toString(),
                "have the site run the VM where it shares less");
    }

    private void appraiseCircuit(AttestationClaims claim) {
        require(
                EvidenceClause.NONCE,
                claim.nonce().equals(expected.nonce()),
                expected.nonce().toString(),
                claim.nonce().toString(),
                "an old answer, or somebody else's; start the VM anew");
        require(
                EvidenceClause.CIRCUIT,
                claim.keys().signing().equals(expected.peer()),
                "the circuit's own, " + expected.peer(),
                claim.keys().signing().id(),
                "somebody shows another VM's statement; look at both");
        require(
                EvidenceClause.BINDING,
                claim.binding().equals(expected.binding()),
                expected.binding().toString(),
                claim.binding().toString(),
                "made for another circuit; start the VM anew");
    }

    private AssuranceLevel appraiseLevel(EvidenceStatement statement) {
        // This release verifies no platform evidence.
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
                EvidenceClause.LEVEL,
                policy.level().compareTo(level) <= 0,
                demanded,
                level + " from evidence " + evidence + offered + ", worker encryption "
                        + (expected.workerEncryption() ? "on" : "off") + ", drive integrity "
                        + (expected.driveIntegrity() ? "on" : "off"),
                "have the owners accept the lower level by name, or wait for the release that verifies it");
        require(
                EvidenceClause.ENCRYPTION,
                !policy.workerEncryption() || expected.workerEncryption(),
                "workers inside IPsec",
                "clear traffic",
                "switch worker encryption on, or have the owners give it up by name");
        return level;
    }

    private void appraiseRecord(VmFacts facts) {
        require(
                EvidenceClause.SPENT,
                !expected.alreadyUsed(),
                "ticket " + expected.ticket() + " slot " + expected.slot() + " for the first time",
                "it again, from VM " + facts.vm(),
                "a new try needs a new ticket");
        require(
                EvidenceClause.RELEASES,
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

    private void require(EvidenceClause clause, boolean holds, String want, String have, String remedy) {
        if (!holds) {
            failures.add(failure(clause, want, have, remedy));
        }
    }

    private static Failure failure(EvidenceClause clause, String want, String have, String remedy) {
        return new Failure(clause, "want " + want + ", have " + have + "; " + remedy);
    }
}
