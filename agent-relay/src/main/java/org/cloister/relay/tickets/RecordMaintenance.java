package org.cloister.relay.tickets;

import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.cloister.relay.state.RelayDatabaseException;
import org.cloister.relay.state.RelayTransaction;
import org.cloister.relay.state.TicketTable;

/**
 * Deletes old tickets and releases the VLANs of idle projects, once a minute. Runs on the records thread; intervals are
 * arguments, in nanoseconds.
 */
final class RecordMaintenance {
    private static final int MAX_DELETED = 500;
    private static final long PERIOD_NS = Duration.ofSeconds(60).toNanos();

    private final TicketListeners listeners;
    private final Duration vlanLease;
    private final InstantSource clock;
    /** Time since when projects have needed no VLAN, by project. */
    private final Map<String, Long> idle = new HashMap<>();

    private long lastNs;

    RecordMaintenance(TicketListeners listeners, Duration vlanLease, InstantSource clock, long nowNs) {
        this.listeners = listeners;
        this.vlanLease = vlanLease;
        this.clock = clock;
        this.lastNs = nowNs;
    }

    void runIfDue(RelayTransaction transaction, long nowNs) throws RelayDatabaseException {
        if (nowNs - lastNs <= PERIOD_NS) {
            return;
        }
        lastNs = nowNs;
        transaction.numbers().tick();
        transaction.tickets().forget(clock.instant().minus(TicketTable.KEPT), MAX_DELETED);
        List<String> idleProjects = transaction.numbers().idleProjects();
        idle.keySet().retainAll(idleProjects);
        for (String project : idleProjects) {
            if (listeners.has(project)) {
                idle.remove(project);
            } else if (nowNs - idle.computeIfAbsent(project, each -> nowNs) > vlanLease.toNanos()) {
                transaction.numbers().releaseVlan(project);
                idle.remove(project);
            }
        }
    }
}
