package org.cloister.ovs.dns;

import java.net.InetAddress;
import java.util.List;

/** Resolves names, on the machine of the gateway. */
public interface NameResolver {
    /** Resolves a name. May take as long as the system's resolver; {@link NameAnswerPolicy} checks every answer. */
    List<InetAddress> resolve(HostName name) throws NameRefusedException;
}
