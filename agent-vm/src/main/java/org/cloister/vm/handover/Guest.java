package org.cloister.vm.handover;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.nio.charset.StandardCharsets;
import org.cloister.protocol.BinaryText;
import org.cloister.protocol.Digest;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.StrictJson;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.BootKeys;
import org.cloister.protocol.evidence.Statement;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.handover.HandOver;
import org.cloister.protocol.handover.Login;
import org.cloister.protocol.ticket.Address;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Slot;
import org.cloister.protocol.ticket.Ticket;

/**
 * A worker that was handed over to, as a controlling VM that is opened anew has to know it.
 *
 * @param vm its id, of the life that its keys are of
 * @param host who vouched for it, by its key
 * @param image that it was started from, as the host said
 * @param uid of its job's user
 * @param gid of the project
 */
public record Guest(
        String ticket,
        int slot,
        String vm,
        BootKeys keys,
        VerificationKey host,
        Digest image,
        Address address,
        int uid,
        int gid) {
    /** Of the file. */
    static final int MAX_BYTES = 4 * 1024;

    private static final String FORMAT = "cloister-vm-guest-v1";
    private static final int MAX_KEY = 128;

    /** @param statement its evidence, accepted */
    static Guest of(HandOver given, Slot slot, Statement statement) {
        return new Guest(
                given.place().ticket(),
                slot.slot(),
                given.place().vm(),
                statement.claim().keys(),
                slot.key(),
                statement.facts().image(),
                slot.address(),
                given.accounts().jobUid(),
                given.accounts().projectGid());
    }

    static Guest read(byte[] file) throws MalformedException {
        StrictJson json = StrictJson.read(file, MAX_BYTES);
        json.requireFormat(FORMAT);
        try {
            Guest guest = new Guest(
                    json.text("ticket", Ticket.ID),
                    (int) json.number("slot", 0, ResourceRequest.MAX_NODES - 1),
                    json.text("vm", VmFacts.ID),
                    new BootKeys(key(json, "signing"), key(json, "sealing")),
                    key(json, "host"),
                    json.digest("image", Digest.Algorithm.SHA384),
                    Address.parse(json.text("address")),
                    (int) json.number("uid", Login.LEAST_ID, Login.MOST_ID),
                    (int) json.number("gid", Login.LEAST_ID, Login.MOST_ID));
            json.requireNothingElse();
            return guest;
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
