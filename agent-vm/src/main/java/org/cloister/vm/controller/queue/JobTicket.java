package org.cloister.vm.controller.queue;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.vm.controller.slurm.JobRequirements;
import org.cloister.vm.controller.slurm.LocalSlurmJobId;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;
import org.cloister.vm.controller.tickets.WorkerPhase;

/**
 * The journal's record of one ticket: one attempt of one job.
 *
 * @param uid of the job's owner, to whom alone the nodes belong
 * @param hetJobId number of the first component, for a heterogeneous job's component; 0 otherwise
 * @param restarts how often the job had been requeued when the ticket was requested
 * @param attempt counts a job's tickets from 1
 * @param failures number of consecutive failed tickets, including this one once it has failed
 * @param requirements of the job when the ticket was requested
 * @param requestedMs since 1970, as is {@code closedMs}, which is 0 while the ticket is open: both outlive this
 *     process; they only decide how long a failed job still waits after a restart
 * @param started whether its job was seen running on it
 * @param held whether its job was seen held after its last permitted attempt
 * @param endReason why it failed, if it did
 * @param phaseDurations of completed phases, of the slowest slot
 */
record JobTicket(
        String ticket,
        LocalSlurmJobId job,
        int uid,
        long hetJobId,
        int restarts,
        int attempt,
        int failures,
        JobRequirements requirements,
        ResourceRequest request,
        Stage stage,
        long requestedMs,
        long closedMs,
        boolean started,
        boolean held,
        Optional<EndReason> endReason,
        Map<WorkerPhase, Duration> phaseDurations) {
    /** Stage of a ticket. It only advances. */
    enum Stage {
        /** The ticket is needed. */
        OPEN,
        /** The job has run, or started to. */
        RELEASED,
        /** The job does not need it. */
        WITHDRAWN,
        /** No part of it remains, in Slurm or with the workers. */
        GONE
    }

    JobTicket {
        if (!Ticket.ID.matcher(ticket).matches()) {
            throw new IllegalArgumentException("ticket: want " + Ticket.ID + ", have " + ticket);
        }
        if (uid < 0 || restarts < 0 || attempt < 1 || failures < 0 || hetJobId < 0) {
            throw new IllegalArgumentException("ticket " + ticket + ": want counts, have uid " + uid + ", restarts "
                    + restarts + ", attempt " + attempt + ", failures " + failures + ", set " + hetJobId);
        }
        phaseDurations = Map.copyOf(phaseDurations);
    }

    boolean isOpen() {
        return stage == Stage.OPEN;
    }

    boolean isClosing() {
        return stage == Stage.RELEASED || stage == Stage.WITHDRAWN;
    }

    /** @param how {@link Stage#RELEASED} or {@link Stage#WITHDRAWN} */
    JobTicket markClosed(Stage how, Optional<EndReason> why, int failuresNow, long nowMs) {
        return new JobTicket(
                ticket,
                job,
                uid,
                hetJobId,
                restarts,
                attempt,
                failuresNow,
                requirements,
                request,
                how,
                requestedMs,
                nowMs,
                started,
                held,
                why,
                phaseDurations);
    }

    JobTicket markGone() {
        return new JobTicket(
                ticket,
                job,
                uid,
                hetJobId,
                restarts,
                attempt,
                failures,
                requirements,
                request,
                Stage.GONE,
                requestedMs,
                closedMs,
                started,
                held,
                endReason,
                phaseDurations);
    }

    /** A start resets the count of failures. */
    JobTicket markStarted() {
        return new JobTicket(
                ticket,
                job,
                uid,
                hetJobId,
                restarts,
                attempt,
                0,
                requirements,
                request,
                stage,
                requestedMs,
                closedMs,
                true,
                held,
                endReason,
                phaseDurations);
    }

    JobTicket markHeld() {
        return new JobTicket(
                ticket,
                job,
                uid,
                hetJobId,
                restarts,
                attempt,
                failures,
                requirements,
                request,
                stage,
                requestedMs,
                closedMs,
                started,
                true,
                endReason,
                phaseDurations);
    }

    /** Resets the failures of a job that an authorized user has released. */
    JobTicket clearFailures() {
        return new JobTicket(
                ticket,
                job,
                uid,
                hetJobId,
                restarts,
                attempt,
                0,
                requirements,
                request,
                stage,
                requestedMs,
                closedMs,
                started,
                false,
                endReason,
                phaseDurations);
    }

    JobTicket withPhases(Map<WorkerPhase, Duration> more) {
        Map<WorkerPhase, Duration> all = new EnumMap<>(WorkerPhase.class);
        all.putAll(phaseDurations);
        all.putAll(more);
        return new JobTicket(
                ticket,
                job,
                uid,
                hetJobId,
                restarts,
                attempt,
                failures,
                requirements,
                request,
                stage,
                requestedMs,
                closedMs,
                started,
                held,
                endReason,
                all);
    }
}
