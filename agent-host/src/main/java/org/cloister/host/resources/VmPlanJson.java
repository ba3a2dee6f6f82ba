package org.cloister.host.resources;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.drive.DriveClaim;
import org.cloister.host.drive.DriveName;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.ticket.Ticket;

/**
 * Reads and writes a {@link VmPlan} as JSON; it is read only if exactly the known keys are present and every value is
 * in its range.
 */
final class VmPlanJson {
    /** Twice the length of a plan with a port's maximum of peers. */
    static final int MAX_BYTES = 1 << 20;

    private static final String FORMAT = "cloister-vm-plan/1";
    private static final Pattern WORD = Pattern.compile("[a-z0-9-]{1,64}");

    private VmPlanJson() {}

    static byte[] write(VmPlan plan) {
        ResourceOwner owner = plan.owner();
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("format", FORMAT);
        json.putObject("owner")
                .put("project", owner.project())
                .put("ticket", owner.ticket())
                .put("slot", owner.slot())
                .put("globalJob", owner.globalJob())
                .put("uuid", owner.uuid());
        DomainSpecJson.write(plan.domain(), json.putObject("domain"));
        PortPlanJson.write(plan.port(), json.putObject("port"));
        json.put("mtu", plan.mtu());
        plan.scratchBytes().ifPresent(bytes -> json.put("scratchBytes", bytes));
        json.put("image", plan.image().hex()).put("sharing", plan.sharing().toString());
        plan.drive()
                .ifPresent(use ->
                        json.putObject("drive").put("name", use.drive().name()).put("epoch", use.epoch()));
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Reads a plan.
     *
     * @throws MalformedException if it does not have the form that {@link #write} produces
     */
    static VmPlan read(byte[] document) throws MalformedException {
        try {
            StrictJson json = StrictJson.read(document, MAX_BYTES);
            json.requireFormat(FORMAT);
            ResourceOwner owner = owner(json.object("owner"));
            DomainSpec domain = DomainSpecJson.read(owner, json.object("domain"));
            VmPlan plan = new VmPlan(
                    domain,
                    PortPlanJson.read(domain, json.object("port")),
                    (int) json.number("mtu", VmPlan.MIN_MTU, VmPlan.MAX_MTU),
                    json.has("scratchBytes")
                            ? OptionalLong.of(json.number("scratchBytes", 1, Long.MAX_VALUE))
                            : OptionalLong.empty(),
                    json.digest("image", Digest.Algorithm.SHA384),
                    HostSharing.read(json, "sharing"),
                    json.has("drive") ? Optional.of(drive(owner, json.object("drive"))) : Optional.empty());
            json.requireNothingElse();
            return plan;
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    private static DriveClaim drive(ResourceOwner owner, StrictJson json) throws MalformedException {
        DriveClaim use = new DriveClaim(
                new DriveName(owner.project(), json.text("name", WORD)), json.number("epoch", 1, Ticket.MAX_COUNT));
        json.requireNothingElse();
        return use;
    }

    private static ResourceOwner owner(StrictJson json) throws MalformedException {
        ResourceOwner owner = new ResourceOwner(
                json.text("project", WORD),
                json.text("ticket", WORD),
                (int) json.number("slot", 0, Integer.MAX_VALUE),
                json.number("globalJob", 1, Ticket.MAX_COUNT),
                json.text("uuid", WORD));
        json.requireNothingElse();
        return owner;
    }
}
