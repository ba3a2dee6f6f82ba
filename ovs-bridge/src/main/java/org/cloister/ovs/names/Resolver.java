package org.cloister.ovs.names;

import java.net.InetAddress;
import java.util.List;

/** Looks up names, on the machine of the gateway. */
public interface Resolver {
    /** May take as long as the system's resolver does; whatever it says is judged by {@link NamePolicy}. */
    List<InetAddress> lookUp(HostName name) throws NameRefused;
}
