package org.cloister.host.desk;

import java.util.List;
import java.util.Optional;

/**
 * How this host is.
 *
 * @param host its name, as its certificate has it
 * @param takesNone why it takes no more work; empty if it takes some
 * @param parts what it works with
 * @param starting VMs on their way up; and so on
 * @param strays things named as ours that nobody's entry explains
 * @param troubles what the last look at everything found wrong, or could not find out
 * @param lookedS seconds since that look; empty if there was none yet
 */
public record Status(
        String host,
        Optional<String> takesNone,
        List<Part> parts,
        int starting,
        int running,
        int ending,
        List<String> strays,
        List<String> troubles,
        Optional<Long> lookedS) {
    /**
     * @param name such as {@code relay}
     * @param text for people
     */
    public record Part(String name, boolean isThere, String text) {}

    public Status {
        parts = List.copyOf(parts);
        strays = List.copyOf(strays);
        troubles = List.copyOf(troubles);
    }
}
