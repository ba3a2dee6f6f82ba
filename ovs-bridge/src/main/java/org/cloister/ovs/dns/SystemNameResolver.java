package org.cloister.ovs.dns;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/**
 * The resolver of the machine, through the JDK: hosts file, DNS, whatever nsswitch.conf(5) says. The JDK remembers an answer
 * for 30 s and does not tell how long it holds.
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
