package org.cloister.ipsec;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What is to be done to make charon as the plan says; decided from what it has, without I/O or clock.
 *
 * @param load told again or anew
 * @param unload names that charon has and nobody wants
 * @param initiate tunnels to make now
 * @param terminate connections, by charon's number, to end now
 * @param next until it should be looked again, if nothing happens before
 */
record TunnelDifference(
        List<TunnelConnection> load,
        List<String> unload,
        List<TunnelConnection> initiate,
        List<Long> terminate,
        Duration next) {
    /** A peer that starts late is tried again within a second. */
    static final Duration RETRY = Duration.ofMillis(400);
    /** Somebody else may have changed something. */
    static final Duration AUDIT = Duration.ofSeconds(5);

    /**
     * What charon has.
     *
     * @param loaded what it was told in this life of its connection to us, by name
     * @param names what it says it has
     * @param stale numbers of connections that were made with what has been replaced since
     * @param failed names of connections for which an attempt, by whomever, has just failed
     */
    record ObservedTunnels(
            Map<String, TunnelConnection> loaded,
            Set<String> names,
            List<IkeSa> sas,
            Set<Long> stale,
            Set<String> failed) {
        List<IkeSa> of(String name, boolean old) {
            return sas.stream()
                    .filter(sa -> sa.name().equals(name) && sa.isAlive() && stale.contains(sa.id()) == old)
                    .toList();
        }
    }

    static TunnelDifference of(Map<String, TunnelConnection> wanted, ObservedTunnels found) {
        List<TunnelConnection> load = new ArrayList<>();
        List<TunnelConnection> initiate = new ArrayList<>();
        Set<Long> terminate = new LinkedHashSet<>();
        boolean waiting = false;
        for (TunnelConnection connection : wanted.values()) {
            if (!connection.equals(found.loaded.get(connection.name())) || !found.names.contains(connection.name())) {
                load.add(connection);
            }
            List<IkeSa> present = found.of(connection.name(), false);
            List<IkeSa> stale = found.of(connection.name(), true);
            List<IkeSa> up = present.stream().filter(IkeSa::isUp).toList();
            // The first packet was heard; the kernel tells of another only when its wait for the first has ended.
            boolean demanded = connection.onDemand() && found.failed.contains(connection.name());
            boolean ours = connection.initiates() || demanded || !stale.isEmpty();
            if (ours && up.isEmpty()) {
                waiting = true;
                if (present.stream().noneMatch(TunnelDifference::isUnderWay)) {
                    initiate.add(connection);
                }
            }
            if (!up.isEmpty()) {
                stale.forEach(sa -> terminate.add(sa.id()));
            }
            if (connection.settles() && up.size() > 1) {
                long newest = up.stream().mapToLong(IkeSa::id).max().orElseThrow();
                up.stream().map(IkeSa::id).filter(id -> id != newest).forEach(terminate::add);
            }
        }
        found.sas.stream()
                .filter(sa -> isOurs(sa.name()) && !wanted.containsKey(sa.name()) && sa.isAlive())
                .forEach(sa -> terminate.add(sa.id()));
        List<String> unload = found.names.stream()
                .filter(name -> isOurs(name) && !wanted.containsKey(name))
                .toList();
        waiting |= !terminate.isEmpty();
        return new TunnelDifference(load, unload, initiate, List.copyOf(terminate), waiting ? RETRY : AUDIT);
    }

    /** A connection without a tunnel was refused it, unless it is so young that the peer's answer is still to come. */
    private static boolean isUnderWay(IkeSa sa) {
        return !sa.state().equals("ESTABLISHED") || sa.establishedS() < 1;
    }

    private static boolean isOurs(String name) {
        return name.startsWith(TunnelConnection.PREFIX);
    }
}
