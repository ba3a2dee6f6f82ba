package org.cloister.host.domain;

import java.nio.file.Path;
import java.util.List;
import org.cloister.host.vm.ResourceOwner;

/**
 * Observed domain of ours, as libvirt reports it.
 *
 * @param owner from its metadata; its name and UUID match it
 * @param state at the time of the query
 * @param tap of its network card
 * @param channel the socket of its virtio-serial port
 * @param disks their files, in order
 */
public record ObservedDomain(ResourceOwner owner, DomainState state, String tap, Path channel, List<Path> disks) {
    public ObservedDomain {
        disks = List.copyOf(disks);
    }

    public String name() {
        return owner.names().domain();
    }

    public String uuid() {
        return owner.uuid();
    }
}
