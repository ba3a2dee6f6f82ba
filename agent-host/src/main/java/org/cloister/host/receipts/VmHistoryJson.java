package org.cloister.host.receipts;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Pattern;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.policy.VmShape;
import org.cloister.protocol.receipt.ScratchDisposal;
import org.cloister.protocol.receipt.VmEndReason;

/** Reads and writes a {@link VmHistory} as JSON; it is read only if every key is known and every value in its range. */
final class VmHistoryJson {
    /** Length of an envelope with its quotes escaped, and a KiB. */
    static final int MAX_BYTES = 20 * 1024;
    /** Form of envelopes that a relay accepts. */
    private static final Pattern ENVELOPE = Pattern.compile("[ -~]{2,12288}");

    private static final String FORMAT = "cloister-vm-life/1";
    private static final Pattern MARK = Pattern.compile("[a-z0-9.-]{1,180}");

    private VmHistoryJson() {}

    static byte[] write(VmHistory history) {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("format", FORMAT)
                .put("owner", history.owner().mark())
                .put("image", history.facts().image().hex());
        history.facts().shape().write(json.putObject("shape"));
        json.put("sharing", history.facts().sharing().toString())
                .put("ticket", history.ticket().hex())
                .put("started", history.started().toString());
        history.ended()
                .ifPresent(ended -> json.putObject("ended")
                        .put("at", ended.at().toString())
                        .put("why", ended.why().toString()));
        history.scratch().ifPresent(how -> json.put("scratch", how.toString()));
        history.signed()
                .ifPresent(signed -> json.putObject("signed")
                        .put("at", signed.at().toString())
                        .put("envelope", signed.envelope()));
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Reads a history.
     *
     * @throws MalformedException if it does not have the form that {@link #write} produces
     */
    static VmHistory read(byte[] document) throws MalformedException {
        try {
            StrictJson json = StrictJson.read(document, MAX_BYTES, MAX_BYTES);
            json.requireFormat(FORMAT);
            String mark = json.text("owner", MARK);
            ResourceOwner owner = ResourceOwner.parse(mark)
                    .orElseThrow(() -> new MalformedException("owner: want a VM's mark, have " + mark));
            VmFacts facts = new VmFacts(
                    owner.project(),
                    owner.vmId(),
                    VmRole.WORKER,
                    owner.ticket(),
                    owner.slot(),
                    json.digest("image", Digest.Algorithm.SHA384),
                    VmShape.read(json.object("shape")),
                    HostSharing.read(json, "sharing"));
            VmHistory history = new VmHistory(
                    owner,
                    facts,
                    json.digest("ticket", Digest.Algorithm.SHA256),
                    json.time("started"),
                    json.has("ended") ? Optional.of(ended(json.object("ended"))) : Optional.empty(),
                    json.has("scratch") ? Optional.of(ScratchDisposal.read(json, "scratch")) : Optional.empty(),
                    json.has("signed") ? Optional.of(signed(json.object("signed"))) : Optional.empty());
            json.requireNothingElse();
            return history;
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    private static VmHistory.EndOfRun ended(StrictJson json) throws MalformedException {
        VmHistory.EndOfRun ended = new VmHistory.EndOfRun(json.time("at"), VmEndReason.read(json, "why"));
        json.requireNothingElse();
        return ended;
    }

    private static VmHistory.SignedStatement signed(StrictJson json) throws MalformedException {
        VmHistory.SignedStatement signed =
                new VmHistory.SignedStatement(json.time("at"), json.text("envelope", ENVELOPE));
        json.requireNothingElse();
        return signed;
    }
}
