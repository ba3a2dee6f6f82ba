package org.cloister.host.control;

import java.util.List;

/**
 * Complete rendering of a VM's plan, exactly as it would be applied.
 *
 * @param xml of its domain
 * @param ports rows in the bridge's database
 * @param flows flow entries of those ports
 */
public record VmRendering(String xml, List<String> ports, List<String> flows) {
    public VmRendering {
        ports = List.copyOf(ports);
        flows = List.copyOf(flows);
    }
}
