package org.cloister.host.libvirt;

import java.util.List;
import org.cloister.host.domain.DomainView;

/**
 * All that a hypervisor has of ours.
 *
 * @param odd domains that carry our metadata and are not as we make them, each with what is wrong; they are left alone, and
 *     somebody has to look
 */
public record Domains(List<DomainView> ours, List<String> odd) {
    public Domains {
        ours = List.copyOf(ours);
        odd = List.copyOf(odd);
    }
}
