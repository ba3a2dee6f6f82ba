package org.cloister.host.control;

import java.util.List;

/**
 * What a VM consists of, exactly as it would be applied.
 *
 * @param xml of its domain
 * @param ports in the bridge's database
 * @param flows of those ports
 */
public record VmRendering(String xml, List<String> ports, List<String> flows) {
    public VmRendering {
        ports = List.copyOf(ports);
        flows = List.copyOf(flows);
    }
}
