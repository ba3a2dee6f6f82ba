package org.cloister.ipsec;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Steps that make charon's state equal to the plan, computed from that state without I/O or clock.
 *
 * @param load connections to load for the first time or again
 * @param unload names of charon's connections that the plan does not have
 * @param initiate tunnels to initiate now
 * @param terminate connections to terminate now, by charon's number
 * @param next time until the next check if nothing happens before
 */
record TunnelDifference(
        List<TunnelConnection> load,
        List<String> unload,
        List<TunnelConnection> initiate,
        List<Long> terminate,
        Duration next) {
    /** Pause before a retry, so that a peer that starts late is reached within a second. */
    static final Duration RETRY = Duration.ofMillis(400);
    /** Interval of checks for changes by other programs. */
    static final Duration AUDIT = Duration.ofSeconds(5);

    /**
     * Observed state of charon.
     *
     * @param loaded connections loaded over the present connection to charon, by name
     * @param names of charon's connections, as it reports them
     * @param stale numbers of connections that were set up with a configuration or credential that has been replaced
     *     since
     * @param failed names of connections for which an attempt of any initiator has just failed
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

    static TunnelDifference of(Map<String, TunnelConnection> desired, ObservedTunnels found) {
        List<TunnelConnection> load = new ArrayList<>();
        List<TunnelConnection> initiate = new ArrayList<>();
        Set<Long> terminate = new LinkedHashSet<>();
        boolean waiting = false;
        for (TunnelConnection connection : desired.values()) {
            if (!connection.equals(found.loaded.get(connection.name())) || !found.names.contains(connection.name())) {
                load.add(connection);
            }
            List<IkeSa> present = found.of(connection.name(), false);
            List<IkeSa> stale = found.of(connection.name(), true);
            List<IkeSa> up = present.stream().filter(IkeSa::isUp).toList();
            // The first packet arrived; the kernel reports another only after its timeout for the first has ended.
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
                .filter(sa -> isOurs(sa.name()) && !desired.containsKey(sa.name()) && sa.isAlive())
                .forEach(sa -> terminate.add(sa.id()));
        List<String> unload = found.names.stream()
                .filter(name -> isOurs(name) && !desired.containsKey(name))
                .toList();
        waiting |= !terminate.isEmpty();
        return new TunnelDifference(load, unload, initiate, List.copyOf(terminate), waiting ? RETRY : AUDIT);
    }

    /**
     * Returns whether an attempt is in progress. An SA without a child was refused one, unless it is so young that the
     * peer's answer may still arrive.
     */
    private static boolean isUnderWay(IkeSa sa) {
        return !sa.state().equals("ESTABLISHED") || sa.establishedS() < 1;
    }

    private static boolean isOurs(String name) {
        return name.startsWith(TunnelConnection.PREFIX);
    }
}
