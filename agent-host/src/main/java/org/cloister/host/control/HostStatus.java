package org.cloister.host.control;

import java.util.List;
import java.util.Optional;

/**
 * Status of this host.
 *
 * @param host its name in its certificate
 * @param unavailableReason why it accepts no work; empty if it does
 * @param components that the host depends on
 * @param starting number of VMs that are starting; the next two likewise
 * @param orphans resources named as Cloister's that no ledger entry explains
 * @param problems that the last reconcile pass found, or sources that did not answer it
 * @param secondsSincePass seconds since that pass; empty before the first one
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
     * Component that the host depends on.
     *
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
