package org.cloister.host.control;

import java.util.Set;

/**
 * Peer credentials of a connection, as the kernel recorded them when it was made.
 *
 * @param pid in this process's PID namespace
 * @param groups numbers of all the peer's groups, including the primary one
 */
record PeerCredentials(long pid, int uid, Set<Integer> groups) {
    PeerCredentials {
        groups = Set.copyOf(groups);
    }
}
