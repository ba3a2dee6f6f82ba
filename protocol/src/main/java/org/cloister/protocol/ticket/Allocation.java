package org.cloister.protocol.ticket;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.policy.ProjectPolicy;

/**
 * Resources allocated to a ticket or an opening, signed by the relay that submitted it; docs/protocol.md, section 13.
 * Slots are numbered from 0, in Global Slurm's order of nodes; no node, key or address occurs twice.
 *
 * @param ticket its id, or the opening's
 * @param digest of its payload, SHA-256
 * @param issued by the relay's clock
 * @param vlan of the project's VMs
 */
public record Allocation(
        CertificateName relay,
        String project,
        String ticket,
        Digest digest,
        long globalJob,
        Instant issued,
        int vlan,
        ProjectSubnet network,
        List<AllocatedSlot> slots) {
    public static final String TYPE = "application/vnd.cloister.allocation.v1+json";
    /** Limit of the payload in bytes: the maximum number of slots, with the longest names. */
    public static final int MAX_BYTES = 2 << 20;
    /** Limit of the envelope in bytes: the payload in base64, and signatures. */
    public static final int MAX_ENVELOPE = 3 << 20;

    private static final String FORMAT = "cloister-allocation-v1";
    private static final int MAX_VLAN = 4094;
    private static final int DIGEST_BYTES = 32;
    private static final Pattern DIGEST = Pattern.compile("[a-z2-7]{51}[aq]");

    /** @throws IllegalArgumentException if a value is out of its range, or a node, key or address occurs twice */
    public Allocation {
        if (!relay.role().equals(CertificateRole.RELAY.toString())
                || !relay.project().equals(CertificateName.SITE)) {
            throw new IllegalArgumentException("relay: want a relay of the site, have " + relay);
        }
        Ticket.require("project", project, ProjectPolicy.PROJECT);
        Ticket.require("ticket", ticket, Ticket.ID);
        if (digest.algorithm() != Digest.Algorithm.SHA256) {
            throw new IllegalArgumentException("digest: want SHA-256, have " + digest.algorithm());
        }
        Ticket.requireCount("globalJob", globalJob);
        issued = issued.truncatedTo(ChronoUnit.SECONDS);
        if (vlan < 1 || vlan > MAX_VLAN) {
            throw new IllegalArgumentException("vlan: want 1 to " + MAX_VLAN + ", have " + vlan);
        }
        slots = List.copyOf(slots);
        requireSlots(slots, network);
    }

    /**
     * Parses an allocation.
     *
     * @param payload of an envelope that was verified
     */
    public static Allocation parse(byte[] payload) throws MalformedException {
        StrictJson json = StrictJson.read(payload, MAX_BYTES);
        json.requireFormat(FORMAT);
        try {
            List<AllocatedSlot> slots = new ArrayList<>();
            for (StrictJson each : json.objects("slots", ResourceRequest.MAX_NODES)) {
                slots.add(AllocatedSlot.read(each));
            }
            Allocation allocation = new Allocation(
                    CertificateName.parse(json.text("relay")),
                    json.text("project", ProjectPolicy.PROJECT),
                    json.text("ticket", Ticket.ID),
                    readDigest(json, "digest"),
                    json.number("globalJob", 1, Ticket.MAX_COUNT),
                    json.time("issued"),
                    (int) json.number("vlan", 1, MAX_VLAN),
                    ProjectSubnet.parse(json.text("network")),
                    slots);
            json.requireNothingCritical();
            return allocation;
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    /** Returns the payload to sign. */
    public byte[] payload() {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("format", FORMAT)
                .put("relay", relay.toString())
                .put("project", project)
                .put("ticket", ticket)
                .put("digest", BinaryText.base32(digest.bytes()))
                .put("globalJob", globalJob)
                .put("issued", issued.toString())
                .put("vlan", vlan)
                .put("network", network.toString());
        ArrayNode list = json.putArray("slots");
        slots.forEach(each -> each.write(list.addObject()));
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Signs the allocation.
     *
     * @param key the relay's
     */
    public DsseEnvelope sign(SigningKey key) throws GeneralSecurityException {
        return DsseEnvelope.sign(TYPE, payload(), key);
    }

    /** Reads a SHA-256 in base32, by which payloads name other signed objects. */
    static Digest readDigest(StrictJson json, String key) throws MalformedException {
        return Digest.of(Digest.Algorithm.SHA256, BinaryText.fromBase32(json.text(key, DIGEST), DIGEST_BYTES));
    }

    private static void requireSlots(List<AllocatedSlot> slots, ProjectSubnet network) {
        if (slots.isEmpty() || slots.size() > ResourceRequest.MAX_NODES) {
            throw new IllegalArgumentException(
                    "slots: want 1 to " + ResourceRequest.MAX_NODES + ", have " + slots.size());
        }
        Set<Object> seen = new HashSet<>();
        for (int i = 0; i < slots.size(); i++) {
            AllocatedSlot slot = slots.get(i);
            if (slot.slot() != i) {
                throw new IllegalArgumentException("slots[" + i + "].slot: want " + i + ", have " + slot.slot());
            }
            boolean controller = slots.size() == 1 && slot.address().equals(network.controller());
            if (!controller && !network.isForWorkers(slot.address())) {
                throw new IllegalArgumentException("slots[" + i + "].address: want one for workers in " + network
                        + ", or its first of one slot alone, have " + slot.address());
            }
            if (!seen.add(slot.node()) || !seen.add(slot.key()) || !seen.add(slot.address())) {
                throw new IllegalArgumentException("slots[" + i + "]: want each node, key and address once, have "
                        + slot.node() + ", " + slot.key() + " or " + slot.address() + " again");
            }
        }
    }
}
