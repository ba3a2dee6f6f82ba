package org.cloister.host.domain;

import java.nio.file.Path;
import java.util.List;
import org.cloister.host.vm.ResourceOwner;

/**
 * One of our domains, as libvirt tells of it.
 *
 * @param owner as it carries it; name and uuid are those
 * @param state when it was asked for
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
