package org.cloister.protocol.receipt;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.ticket.ResourceRequest;

/**
 * Statement of a worker VM about its own life, signed with its boot signing key, which it then erases;
 * docs/protocol.md, section 15.
 *
 * @param ticket its id
 * @param digest of the ticket's payload
 * @param registered when its slurmd registered with the Local Slurm; empty if it never did
 * @param ended when its shutdown began
 * @param erased when its scratch volume's key was destroyed; empty if it had none or the erasure failed
 */
public record WorkerStatement(
        String project,
        String ticket,
        Digest digest,
        int slot,
        String vm,
        Optional<Instant> registered,
        Instant ended,
        Optional<Instant> erased) {
    public static final String TYPE = InTotoStatement.TYPE;
    public static final String PREDICATE = "urn:cloister:receipt-worker:v1";
    /** Limit in bytes of the payload, and of its envelope. */
    public static final int MAX_BYTES = 8 * 1024;

    public WorkerStatement {
        registered = registered.map(time -> time.truncatedTo(ChronoUnit.SECONDS));
        ended = ended.truncatedTo(ChronoUnit.SECONDS);
        erased = erased.map(time -> time.truncatedTo(ChronoUnit.SECONDS));
    }

    /**
     * Parses a statement.
     *
     * @param payload of an envelope that was verified
     */
    public static WorkerStatement parse(byte[] payload) throws MalformedException {
        InTotoStatement frame = InTotoStatement.read(payload, PREDICATE, MAX_BYTES, MAX_BYTES);
        StrictJson json = frame.predicate();
        WorkerStatement part = new WorkerStatement(
                json.text("project", ProjectPolicy.PROJECT),
                frame.ticket(),
                frame.digest(),
                (int) json.number("slot", 0, ResourceRequest.MAX_NODES - 1),
                json.text("vm", VmFacts.ID),
                json.has("registered") ? Optional.of(json.time("registered")) : Optional.empty(),
                json.time("ended"),
                json.has("erased") ? Optional.of(json.time("erased")) : Optional.empty());
        frame.requireNothingCritical();
        return part;
    }

    /** Returns the payload to sign. */
    public byte[] payload() {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("project", project)
                .put("slot", slot)
                .put("vm", vm);
        registered.ifPresent(time -> json.put("registered", time.toString()));
        json.put("ended", ended.toString());
        erased.ifPresent(time -> json.put("erased", time.toString()));
        return InTotoStatement.write(ticket, digest, PREDICATE, json);
    }

    /**
     * Signs the statement.
     *
     * @param key the VM's boot signing key
     */
    public DsseEnvelope sign(SigningKey key) throws GeneralSecurityException {
        return DsseEnvelope.sign(TYPE, payload(), key);
    }
}
