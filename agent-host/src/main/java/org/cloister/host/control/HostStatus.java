package org.cloister.host.control;

import java.util.List;
import java.util.Optional;

/**
 * How this host is.
 *
 * @param host its name, as its certificate has it
 * @param unavailableReason why it takes no more work; empty if it takes some
 * @param components what it works with
 * @param starting VMs on their way up; and so on
 * @param orphans things named as ours that nobody's entry explains
 * @param problems what the last look at everything found wrong, or could not find out
 * @param secondsSincePass seconds since that look; empty if there was none yet
 */
public record HostStatus(
        String host,
        Optional<String> unavailableReason,
        List<Component> components,
        int starting,
        int running,
        int ending,
        List<String> orphans,
        List<String> problems,
        Optional<Long> secondsSincePass) {
    /**
     * @param name such as {@code relay}
     * @param text for people
     */
    public record Component(String name, boolean available, String text) {}

    public HostStatus {
        components = List.copyOf(components);
        orphans = List.copyOf(orphans);
        problems = List.copyOf(problems);
    }
}
