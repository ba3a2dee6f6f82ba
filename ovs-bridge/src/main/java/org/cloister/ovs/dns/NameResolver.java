package org.cloister.ovs.dns;

import java.net.InetAddress;
import java.util.List;

/** Looks up names, on the machine of the gateway. */
public interface NameResolver {
    /** May take as long as the system's resolver does; whatever it says is judged by {@link NameAnswerPolicy}. */
    List<InetAddress> resolve(HostName name) throws NameRefusedException;
}
