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
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.policy.VmShape;
import org.cloister.protocol.ticket.Ticket;

/**
 * Statement of a host about the worker VM of one slot, from its ledger, made when the VM and its resources are removed;
 * docs/protocol.md, section 15.
 *
 * @param facts as the VM's evidence has them
 * @param digest of the ticket's payload
 * @param globalJob of the caller's cgroup
 * @param started when the VM was resumed; all times are by the host's clock
 * @param ended when the VM's process was gone
 * @param end the reason of the end
 * @param scratch how its scratch disk was erased; empty if that is not known
 * @param removed when the removal of disk, port, flows and image overlay was verified; empty if it could not be
 */
public record HostStatement(
        VmFacts facts,
        Digest digest,
        long globalJob,
        Instant started,
        Instant ended,
        VmEndReason end,
        Optional<ScratchDisposal> scratch,
        Optional<Instant> removed) {
    public static final String TYPE = InTotoStatement.TYPE;
    public static final String PREDICATE = "urn:cloister:receipt-host:v1";
    /** Limit in bytes of the payload, and of its envelope. */
    public static final int MAX_BYTES = 8 * 1024;

    public HostStatement {
        if (facts.role() != VmRole.WORKER || !Ticket.ID.matcher(facts.ticket()).matches()) {
            throw new IllegalArgumentException("facts: want those of a ticket's worker, have " + facts);
        }
        boolean none = scratch.filter(ScratchDisposal.NONE::equals).isPresent();
        if (scratch.isPresent() && none != (facts.shape().scratchMib() == 0)) {
            throw new IllegalArgumentException(
                    "scratch: want " + ScratchDisposal.NONE + " without a scratch disk alone, have " + scratch.get()
                            + " with one of " + facts.shape().scratchMib() + " MiB");
        }
        started = started.truncatedTo(ChronoUnit.SECONDS);
        ended = ended.truncatedTo(ChronoUnit.SECONDS);
        removed = removed.map(time -> time.truncatedTo(ChronoUnit.SECONDS));
    }

    /**
     * Parses a statement.
     *
     * @param payload of an envelope that was verified
     */
    public static HostStatement parse(byte[] payload) throws MalformedException {
        InTotoStatement frame = InTotoStatement.read(payload, PREDICATE, MAX_BYTES, MAX_BYTES);
        StrictJson json = frame.predicate();
        try {
            HostStatement part = new HostStatement(
                    new VmFacts(
                            json.text("project", ProjectPolicy.PROJECT),
                            json.text("vm", VmFacts.ID),
                            VmRole.WORKER,
                            frame.ticket(),
                            json.number("slot", 0, VmFacts.MAX_SLOT),
                            json.digest("image", Digest.Algorithm.SHA384),
                            VmShape.read(json.object("shape")),
                            HostSharing.read(json, "sharing")),
                    frame.digest(),
                    json.number("globalJob", 1, Ticket.MAX_COUNT),
                    json.time("started"),
                    json.time("ended"),
                    VmEndReason.read(json, "end"),
                    json.has("scratch") ? Optional.of(ScratchDisposal.read(json, "scratch")) : Optional.empty(),
                    json.has("removed") ? Optional.of(json.time("removed")) : Optional.empty());
            frame.requireNothingCritical();
            return part;
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    /** Returns the payload to sign. */
    public byte[] payload() {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("project", facts.project())
                .put("slot", facts.slot())
                .put("vm", facts.vm())
                .put("image", facts.image().hex());
        facts.shape().write(json.putObject("shape"));
        json.put("sharing", facts.sharing().toString())
                .put("globalJob", globalJob)
                .put("started", started.toString())
                .put("ended", ended.toString())
                .put("end", end.toString());
        scratch.ifPresent(how -> json.put("scratch", how.toString()));
        removed.ifPresent(time -> json.put("removed", time.toString()));
        return InTotoStatement.write(facts.ticket(), digest, PREDICATE, json);
    }

    /**
     * Signs the statement.
     *
     * @param key the host's
     */
    public DsseEnvelope sign(SigningKey key) throws GeneralSecurityException {
        return DsseEnvelope.sign(TYPE, payload(), key);
    }
}
