package org.cloister.ovs.names;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;

/**
 * The resolver of the machine, through the JDK: hosts file, DNS, whatever nsswitch.conf(5) says. The JDK remembers an answer
 * for 30 s and does not tell how long it holds.
 */
public final class SystemResolver implements Resolver {
    @Override
    public List<InetAddress> lookUp(HostName name) throws NameRefused {
        try {
            return List.of(InetAddress.getAllByName(name.text()));
        } catch (UnknownHostException e) {
            throw new NameRefused(
                    name, "an address", "none", "ask the machine's resolver with getent ahosts " + name, e);
        }
    }
}
