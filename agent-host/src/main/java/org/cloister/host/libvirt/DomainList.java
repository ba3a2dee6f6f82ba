package org.cloister.host.libvirt;

import java.util.List;
import org.cloister.host.domain.ObservedDomain;

/**
 * Domains of a hypervisor that carry our metadata.
 *
 * @param malformed domains whose metadata does not have the form that we create, each with the error; they are not
 *     changed, and an operator must inspect them
 */
public record DomainList(List<ObservedDomain> ours, List<String> malformed) {
    public DomainList {
        ours = List.copyOf(ours);
        malformed = List.copyOf(malformed);
    }
}
