package org.cloister.host.resources;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.ovs.PortPlan;

/**
 * Reads and writes a port's owner in the two labels of a port plan, since the whole owner is longer than one of them.
 */
public final class PortOwnerLabels {
    /** Form of the labels, wider than any value's; {@link ResourceOwner} checks each value. */
    private static final Pattern OWNER = Pattern.compile("([a-z2-7]{16,64}\\.[0-9]{1,5})\\.([0-9a-f-]{36})");

    private static final Pattern JOB = Pattern.compile("([a-z2-7]{52})\\.([0-9]{1,16})");

    private PortOwnerLabels() {}

    /** Returns ticket, slot and UUID, at most 107 characters: a port plan's owner. */
    public static String owner(ResourceOwner owner) {
        return owner.ticket() + "." + owner.slot() + "." + owner.uuid();
    }

    /** Returns project and global job, at most 69 characters: a port plan's job. */
    public static String job(ResourceOwner owner) {
        return owner.project() + "." + owner.globalJob();
    }

    /**
     * Reads the owner.
     *
     * @return empty for a port without such labels
     */
    static Optional<ResourceOwner> read(PortPlan port) {
        Matcher owner = OWNER.matcher(port.owner());
        Matcher job = JOB.matcher(port.job());
        return owner.matches() && job.matches()
                ? ResourceOwner.parse(String.join(".", job.group(1), owner.group(1), job.group(2), owner.group(2)))
                : Optional.empty();
    }
}
