package org.cloister.vm.controller.admission;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.nio.charset.StandardCharsets;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.BootPublicKeys;
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.LoginRules;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.ProjectAddress;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;

/**
 * A worker that received its hand-over, as a reopened controlling VM needs to know it.
 *
 * @param vm id of the VM whose boot made the keys
 * @param host key of the host that signed the worker's evidence
 * @param image from which the VM was started, as its host stated
 * @param uid of the job's user
 * @param gid of the project
 */
public record AdmittedWorker(
        String ticket,
        int slot,
        String vm,
        BootPublicKeys keys,
        VerificationKey host,
        Digest image,
        ProjectAddress address,
        int uid,
        int gid) {
    /** Limit of the file's size, in bytes. */
    static final int MAX_BYTES = 4 * 1024;

    private static final String FORMAT = "cloister-vm-guest-v1";
    private static final int MAX_KEY = 128;

    /** @param statement the worker's evidence, accepted */
    static AdmittedWorker of(HandoverDocument handover, AllocatedSlot slot, EvidenceStatement statement) {
        return new AdmittedWorker(
                handover.target().ticket(),
                slot.slot(),
                handover.target().vm(),
                statement.claim().keys(),
                slot.key(),
                statement.facts().image(),
                slot.address(),
                handover.accounts().jobUid(),
                handover.accounts().projectGid());
    }

    static AdmittedWorker read(byte[] file) throws MalformedException {
        StrictJson json = StrictJson.read(file, MAX_BYTES);
        json.requireFormat(FORMAT);
        try {
            AdmittedWorker worker = new AdmittedWorker(
                    json.text("ticket", Ticket.ID),
                    (int) json.number("slot", 0, ResourceRequest.MAX_NODES - 1),
                    json.text("vm", VmFacts.ID),
                    new BootPublicKeys(key(json, "signing"), key(json, "sealing")),
                    key(json, "host"),
                    json.digest("image", Digest.Algorithm.SHA384),
                    ProjectAddress.parse(json.text("address")),
                    (int) json.number("uid", LoginRules.LEAST_ID, LoginRules.MOST_ID),
                    (int) json.number("gid", LoginRules.LEAST_ID, LoginRules.MOST_ID));
            json.requireNothingElse();
            return worker;
        } catch (IllegalArgumentException e) {
            throw new MalformedException(String.valueOf(e.getMessage()), e);
        }
    }

    byte[] write() {
        return JsonNodeFactory.instance
                .objectNode()
                .put("format", FORMAT)
                .put("ticket", ticket)
                .put("slot", slot)
                .put("vm", vm)
                .put("signing", BinaryText.base64(keys.signing().encoded()))
                .put("sealing", BinaryText.base64(keys.sealing().encoded()))
                .put("host", BinaryText.base64(host.encoded()))
                .put("image", image.hex())
                .put("address", address.toString())
                .put("uid", uid)
                .put("gid", gid)
                .toString()
                .getBytes(StandardCharsets.UTF_8);
    }

    private static VerificationKey key(StrictJson json, String name) throws MalformedException {
        try {
            return VerificationKey.parse(json.base64(name, MAX_KEY));
        } catch (MalformedException e) {
            throw json.at(name, e);
        }
    }
}
