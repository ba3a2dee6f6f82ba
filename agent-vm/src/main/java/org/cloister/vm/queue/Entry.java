package org.cloister.vm.queue;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.vm.slurm.Demand;
import org.cloister.vm.slurm.JobId;
import org.cloister.vm.worker.Phase;
import org.cloister.vm.worker.WorkerEvent.Trouble;

/**
 * What the ledger holds of one ticket: one attempt of one job.
 *
 * @param uid of the job's owner, whose the nodes are and nobody else's
 * @param set of a heterogeneous job's component, the first component's number; 0 otherwise
 * @param restarts how often the job had been requeued when the ticket was asked for
 * @param attempt counts a job's tickets from 1
 * @param failures tickets in a row that failed, this one included once it has
 * @param demand as it stood when the ticket was asked for
 * @param askedMs since 1970, as is {@code closedMs}, which is 0 while the ticket is open: they outlive this process, and
 *     nothing is decided by them but how long a job that failed still waits after a restart
 * @param started whether its job was seen running on it
 * @param held whether its job was seen held after the last attempt that it has
 * @param trouble why it failed, if it did
 * @param seconds of the phases that it went through, the slowest slot's
 */
record Entry(
        String ticket,
        JobId job,
        int uid,
        long set,
        int restarts,
        int attempt,
        int failures,
        Demand demand,
        ResourceRequest request,
        Stage stage,
        long askedMs,
        long closedMs,
        boolean started,
        boolean held,
        Optional<Trouble> trouble,
        Map<Phase, Duration> seconds) {
    /** How far a ticket is. It never goes back. */
    enum Stage {
        /** Wanted. */
        OPEN,
        /** Its job has run, or began to. */
        RELEASED,
        /** Its job does not want it. */
        WITHDRAWN,
        /** Nothing is left of it, in Slurm or with the workers. */
        GONE
    }

    Entry {
        if (!Ticket.ID.matcher(ticket).matches()) {
            throw new IllegalArgumentException("ticket: want " + Ticket.ID + ", have " + ticket);
        }
        if (uid < 0 || restarts < 0 || attempt < 1 || failures < 0 || set < 0) {
            throw new IllegalArgumentException("ticket " + ticket + ": want counts, have uid " + uid + ", restarts "
                    + restarts + ", attempt " + attempt + ", failures " + failures + ", set " + set);
        }
        seconds = Map.copyOf(seconds);
    }

    boolean isOpen() {
        return stage == Stage.OPEN;
    }

    boolean isClosing() {
        return stage == Stage.RELEASED || stage == Stage.WITHDRAWN;
    }

    /** @param how {@link Stage#RELEASED} or {@link Stage#WITHDRAWN} */
    Entry closed(Stage how, Optional<Trouble> why, int failuresNow, long nowMs) {
        return new Entry(
                ticket,
                job,
                uid,
                set,
                restarts,
                attempt,
                failuresNow,
                demand,
                request,
                how,
                askedMs,
                nowMs,
                started,
                held,
                why,
                seconds);
    }

    Entry gone() {
        return new Entry(
                ticket,
                job,
                uid,
                set,
                restarts,
                attempt,
                failures,
                demand,
                request,
                Stage.GONE,
                askedMs,
                closedMs,
                started,
                held,
                trouble,
                seconds);
    }

    /** A start makes earlier failures past. */
    Entry begun() {
        return new Entry(
                ticket, job, uid, set, restarts, attempt, 0, demand, request, stage, askedMs, closedMs, true, held,
                trouble, seconds);
    }

    Entry seenHeld() {
        return new Entry(
                ticket, job, uid, set, restarts, attempt, failures, demand, request, stage, askedMs, closedMs, started,
                true, trouble, seconds);
    }

    /** Its job was released by who may: what failed before does not count. */
    Entry forgiven() {
        return new Entry(
                ticket, job, uid, set, restarts, attempt, 0, demand, request, stage, askedMs, closedMs, started, false,
                trouble, seconds);
    }

    Entry with(Map<Phase, Duration> more) {
        Map<Phase, Duration> all = new EnumMap<>(Phase.class);
        all.putAll(seconds);
        all.putAll(more);
        return new Entry(
                ticket, job, uid, set, restarts, attempt, failures, demand, request, stage, askedMs, closedMs, started,
                held, trouble, all);
    }
}
