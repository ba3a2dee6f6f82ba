package org.cloister.host.libvirt;

import java.util.List;
import org.cloister.host.domain.ObservedDomain;

/**
 * All that a hypervisor has of ours.
 *
 * @param malformed domains that carry our metadata and are not as we make them, each with what is wrong; they are left
 *     alone, and somebody has to look
 */
public record DomainList(List<ObservedDomain> ours, List<String> malformed) {
    public DomainList {
        ours = List.copyOf(ours);
        malformed = List.copyOf(malformed);
    }
}
