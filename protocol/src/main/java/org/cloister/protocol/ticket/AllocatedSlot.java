package org.cloister.protocol.ticket;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.regex.Pattern;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.policy.AcceptedHost;

/**
 * Node of an allocation, with the resources that the job has on it.
 *
 * @param slot its position, from 0
 * @param node as Global Slurm names it
 * @param host as its certificate names it
 * @param key the host's, which identifies the host
 * @param address of the VM
 * @param cpus that Global Slurm allocated; memory likewise
 */
public record AllocatedSlot(
        int slot,
        String node,
        CertificateName host,
        VerificationKey key,
        ProjectAddress address,
        int cpus,
        int memoryMib) {
    private static final Pattern NODE = Pattern.compile("[A-Za-z0-9]([A-Za-z0-9_.-]{0,62}[A-Za-z0-9])?");

    /** @throws IllegalArgumentException if a value is out of its range */
    public AllocatedSlot {
        require("slot", slot, 0, ResourceRequest.MAX_NODES - 1);
        Ticket.require("node", node, NODE);
        if (!host.role().equals(CertificateRole.HOST.toString())
                || !host.project().equals(CertificateName.SITE)) {
            throw new IllegalArgumentException("host: want a host of the site, have " + host);
        }
        if (key.curve() != SignatureCurve.P256) {
            throw new IllegalArgumentException("key: want P-256, have " + key.curve());
        }
        require("cpus", cpus, 1, ResourceRequest.MAX_CPUS);
        require("memoryMiB", memoryMib, 1, ResourceRequest.MAX_MIB);
    }

    static AllocatedSlot read(StrictJson json) throws MalformedException {
        AllocatedSlot slot = new AllocatedSlot(
                (int) json.number("slot", 0, ResourceRequest.MAX_NODES - 1),
                json.text("node", NODE),
                CertificateName.parse(json.text("host")),
                AcceptedHost.readKey(json, "key"),
                ProjectAddress.parse(json.text("address")),
                (int) json.number("cpus", 1, ResourceRequest.MAX_CPUS),
                (int) json.number("memoryMiB", 1, ResourceRequest.MAX_MIB));
        json.requireNothingCritical();
        return slot;
    }

    void write(ObjectNode json) {
        json.put("slot", slot)
                .put("node", node)
                .put("host", host.toString())
                .put("key", BinaryText.base64(key.encoded()))
                .put("address", address.toString())
                .put("cpus", cpus)
                .put("memoryMiB", memoryMib);
    }

    private static void require(String name, long value, long min, long max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(name + ": want " + min + " to " + max + ", have " + value);
        }
    }
}
