package org.cloister.host.resources;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.ovs.PortPlan;

/** Whose a port is, in the two labels that a port plan has for it: all of an owner is longer than one of them. */
public final class PortOwnerLabels {
    /** More than any value has; {@link ResourceOwner} says what each may be. */
    private static final Pattern OWNER = Pattern.compile("([a-z2-7]{16,64}\\.[0-9]{1,5})\\.([0-9a-f-]{36})");

    private static final Pattern JOB = Pattern.compile("([a-z2-7]{52})\\.([0-9]{1,16})");

    private PortOwnerLabels() {}

    /** Ticket, slot and UUID, at most 107 characters: a port plan's owner. */
    public static String owner(ResourceOwner owner) {
        return owner.ticket() + "." + owner.slot() + "." + owner.uuid();
    }

    /** Project and Global job, at most 69 characters: a port plan's job. */
    public static String job(ResourceOwner owner) {
        return owner.project() + "." + owner.globalJob();
    }

    /** @return empty for a port that is not marked so */
    static Optional<ResourceOwner> read(PortPlan port) {
        Matcher owner = OWNER.matcher(port.owner());
        Matcher job = JOB.matcher(port.job());
        return owner.matches() && job.matches()
                ? ResourceOwner.parse(String.join(".", job.group(1), owner.group(1), job.group(2), owner.group(2)))
                : Optional.empty();
    }
}
