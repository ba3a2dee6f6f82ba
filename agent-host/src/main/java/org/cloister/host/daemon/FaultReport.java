package org.cloister.host.daemon;

import java.time.Duration;
import java.util.Optional;
import org.cloister.host.control.VmRunListener;
import org.cloister.host.control.VmRunPhase;
import org.cloister.host.control.VmRunResult;
import org.cloister.host.vm.VmRunCode;
import org.cloister.protocol.ticket.HostFaultCode;

/** Listener of a job step that also tells the ticket's project why its VM failed, before the step ends. */
final class FaultReport implements VmRunListener {
    private final VmRunListener step;
    private final String ticket;
    private final Project project;

    /** Receives faults, as {@code host.tickets.TicketClaims} does. */
    @FunctionalInterface
    interface Project {
        void reportFault(String ticket, HostFaultCode code, String phase);
    }

    FaultReport(VmRunListener step, String ticket, Project project) {
        this.step = step;
        this.ticket = ticket;
        this.project = project;
    }

    @Override
    public void onPhase(VmRunPhase phase, Duration took) {
        step.onPhase(phase, took);
    }

    @Override
    public void onResult(VmRunResult how) {
        fault(how.code())
                .ifPresent(code -> project.reportFault(ticket, code, how.phase().toString()));
        step.onResult(how);
    }

    private static Optional<HostFaultCode> fault(VmRunCode code) {
        return switch (code) {
            case DONE, STOPPED -> Optional.empty();
            case REFUSED -> Optional.of(HostFaultCode.REFUSED);
            case UNAVAILABLE -> Optional.of(HostFaultCode.UNAVAILABLE);
            case GUEST -> Optional.of(HostFaultCode.GUEST);
            case HOST -> Optional.of(HostFaultCode.HOST);
        };
    }
}
