package org.cloister.host.control;

import java.util.Set;

/**
 * Who made a connection, as the kernel had it at that moment.
 *
 * @param pid in this process's PID namespace
 * @param groups all of its groups' numbers, the first one included
 */
record PeerCredentials(long pid, int uid, Set<Integer> groups) {
    PeerCredentials {
        groups = Set.copyOf(groups);
    }
}
