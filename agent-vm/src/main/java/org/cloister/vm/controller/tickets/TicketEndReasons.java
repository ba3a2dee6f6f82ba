package org.cloister.vm.controller.tickets;

import org.cloister.protocol.ticket.HostFaultCode;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;

/** Explains the ends and refusals of tickets to a job's owner. */
final class TicketEndReasons {
    /** The relay no longer knows a ticket that it had. */
    static final EndReason FORGOTTEN =
            new EndReason(WorkerPhase.QUEUE, "forgotten", "the relay no longer knows the ticket", "", true);

    private TicketEndReasons() {}

    static EndReason of(RelayTicketMessage.Refused refused) {
        TicketClause clause = refused.clause();
        return new EndReason(
                WorkerPhase.QUEUE,
                clause.toString(),
                "the relay refuses the ticket: " + clause.denies(),
                hint(clause),
                isRetryable(clause));
    }

    /**
     * @param expected whether this VM requested the end
     * @param hadNodes whether the ticket ever had nodes
     */
    static EndReason of(TicketEnd end, boolean expected, boolean hadNodes) {
        if (expected && (end == TicketEnd.COMPLETED || end == TicketEnd.WITHDRAWN)) {
            return EndReason.NONE;
        }
        WorkerPhase phase = hadNodes ? WorkerPhase.REGISTRATION : WorkerPhase.QUEUE;
        return new EndReason(phase, end.toString(), text(end), hint(end), isRetryable(end));
    }

    /** Returns the event for a VM that its host cannot run, or whose end its host has seen. */
    static WorkerEvent gone(RelayTicketMessage.HostFault fault) {
        String host = "host " + fault.host();
        EndReason reason = new EndReason(
                WorkerPhase.BOOT,
                fault.code() == HostFaultCode.HOST ? "host" : "host-" + fault.code(),
                host + ": " + text(fault.code()) + " (phase " + fault.phase() + ")",
                hint(fault.code(), host),
                true);
        return new WorkerEvent.NodeGone(fault.ticket(), fault.slot(), reason);
    }

    private static String text(HostFaultCode code) {
        return switch (code) {
            case REFUSED -> "it did not accept the job's VM";
            case UNAVAILABLE -> "something that it depends on did not answer";
            case GUEST -> "the VM ended by itself, or its guest did not report";
            case HOST -> "it could not run the job's VM";
        };
    }

    private static String hint(HostFaultCode code, String host) {
        return switch (code) {
            case REFUSED, HOST -> "the site's administrators see why in agent-host's log on " + host;
            case UNAVAILABLE -> "the job is tried again";
            case GUEST -> "ask for more memory if the job had started";
        };
    }

    private static boolean isRetryable(TicketClause clause) {
        return switch (clause) {
            case QUOTA, EXHAUSTED, AUDIT, DRAINING, UNAVAILABLE, EXPIRED, SEQUENCE, USED -> true;
            case MALFORMED, SIGNATURE, PROJECT, FEATURES, NO_SLURM, LIMIT -> false;
        };
    }

    private static String hint(TicketClause clause) {
        return switch (clause) {
            case QUOTA -> "wait for the project's other jobs, or have the site approve more";
            case EXHAUSTED, AUDIT, UNAVAILABLE -> "the site's administrators see why in the relay's log";
            case DRAINING -> "the site is being serviced; the job waits";
            case EXPIRED -> "compare the clocks of the controlling VM and the relay";
            case FEATURES -> "ask for a constraint that the site maps for the project";
            case LIMIT -> "ask for less";
            case SEQUENCE, USED -> "";
            case MALFORMED, SIGNATURE, PROJECT, NO_SLURM -> "tell the project's owners";
        };
    }

    private static boolean isRetryable(TicketEnd end) {
        return switch (end) {
            case COMPLETED, FAILED, WITHDRAWN, CANCELLED, TIMEOUT, NODE_FAILED, PREEMPTED, LOST, NOT_STARTED -> true;
            case REFUSED, REVOKED, SUPERSEDED -> false;
        };
    }

    private static String text(TicketEnd end) {
        return switch (end) {
            case COMPLETED -> "its VMs ended";
            case FAILED -> "one of its VMs could not run";
            case WITHDRAWN -> "it was withdrawn";
            case CANCELLED -> "the site cancelled it";
            case TIMEOUT -> "the site's time for it is over";
            case NODE_FAILED -> "one of its hosts failed";
            case PREEMPTED -> "the site preempted it";
            case REFUSED -> "the site's Slurm refused it";
            case REVOKED -> "the site no longer trusts the project";
            case LOST -> "the site's Slurm no longer knows it";
            case NOT_STARTED -> "the site had no nodes for it in time, or their hosts did not claim it";
            case SUPERSEDED -> "another controlling VM of the project was opened";
        };
    }

    private static String hint(TicketEnd end) {
        return switch (end) {
            case REFUSED -> "ask for less of each node, or for fewer nodes";
            case TIMEOUT -> "ask for more time";
            case REVOKED -> "ask the project's owners and the site";
            default -> "";
        };
    }
}
