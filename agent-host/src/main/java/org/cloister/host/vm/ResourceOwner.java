package org.cloister.host.vm;

import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.base.encoding.BinaryText;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.ticket.Ticket;

/**
 * Owner of a resource on the host. Each resource carries it: the domain in its metadata, the port in its external ids,
 * the ledger in its entries.
 *
 * @param ticket the whole id; for a controlling VM, the opening's id
 * @param slot among the ticket's nodes, from 0
 * @param globalJob job in whose step the VM runs
 * @param uuid of the domain, new for each run; in lower case with hyphens
 */
public record ResourceOwner(String project, String ticket, int slot, long globalJob, String uuid) {
    private static final Pattern UUID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
    private static final Pattern MARK = Pattern.compile(
            "([a-z2-7]{52})\\.([a-z2-7]{16,64})\\.(0|[1-9][0-9]{0,4})\\.([1-9][0-9]{0,15})\\.([0-9a-f-]{36})");

    /** @throws IllegalArgumentException if a value is out of its range */
    public ResourceOwner {
        if (!ProjectPolicy.PROJECT.matcher(project).matches()) {
            throw new IllegalArgumentException("project: want " + ProjectPolicy.PROJECT + ", have \"" + project + "\"");
        }
        VmResourceNames.requireTicket(ticket);
        VmResourceNames.requireSlot(slot);
        if (globalJob < 1 || globalJob > Ticket.MAX_COUNT) {
            throw new IllegalArgumentException("globalJob: want 1 to " + Ticket.MAX_COUNT + ", have " + globalJob);
        }
        if (!UUID.matcher(uuid).matches()) {
            throw new IllegalArgumentException("uuid: want " + UUID + ", have \"" + uuid + "\"");
        }
    }

    /** Returns the VM's id in statements: the UUID's 16 bytes in base32. */
    public String vmId() {
        return BinaryText.base32(HexFormat.of().parseHex(uuid.replace("-", "")));
    }

    public VmResourceNames names() {
        return new VmResourceNames(ticket, slot);
    }

    /**
     * Returns the whole owner in at most 180 letters, digits, dots and hyphens, fit for a file's name and an
     * interface's alias.
     */
    public String mark() {
        return String.join(".", project, ticket, Integer.toString(slot), Long.toString(globalJob), uuid);
    }

    /**
     * Parses a mark.
     *
     * @return empty for a text that {@link #mark} does not produce
     */
    public static Optional<ResourceOwner> parse(String mark) {
        Matcher matcher = MARK.matcher(mark);
        if (!matcher.matches()) {
            return Optional.empty();
        }
        try {
            return Optional.of(new ResourceOwner(
                    matcher.group(1),
                    matcher.group(2),
                    Integer.parseInt(matcher.group(3)),
                    Long.parseLong(matcher.group(4)),
                    matcher.group(5)));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
