package org.cloister.ovs.dns;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/**
 * The machine's resolver, through the JDK: hosts file, DNS and the other sources of nsswitch.conf(5). The JDK caches an
 * answer for 30 s and does not report how long it is valid.
 */
public final class SystemNameResolver implements NameResolver {
    @Override
    public List<InetAddress> resolve(HostName name) throws NameRefusedException {
        try {
            return List.of(InetAddress.getAllByName(name.text()));
        } catch (UnknownHostException e) {
            throw new NameRefusedException(
                    name, "an address", "none", "ask the machine's resolver with getent ahosts " + name, e);
        }
    }
}
