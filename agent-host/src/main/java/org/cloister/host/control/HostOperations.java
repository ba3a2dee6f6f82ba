package org.cloister.host.control;

import java.io.IOException;
import java.util.List;
import org.cloister.host.reconcile.VmLedgerEntry;

/** Operations that a host performs for authorized callers. Any thread may call. */
public interface HostOperations {
    /** VM run of a job step that waits for it. */
    interface Run {
        /** Stops the VM; its end is reported to the listener as usual. May be called repeatedly. */
        void stop();
    }

    /**
     * Starts to create the ticket's VM and returns; the listener receives the progress. It receives a phase before
     * anything of the VM is persisted or created: a caller that received none requests the ticket again after it lost
     * the connection.
     *
     * @param again true if the caller was waiting for this VM when the connection was lost, such as at a restart of the
     *     daemon. No VM is created then: the caller continues to wait for the VM that it has, or receives how it ended
     * @throws OperationRefused if nothing was started; then the listener receives nothing
     */
    Run run(JobStepCaller caller, String ticket, boolean again, VmRunListener phases) throws OperationRefused;

    HostStatus status();

    List<VmSummary> vms();

    List<VmLedgerEntry> ledger();

    /**
     * Stops a VM. Returns when the decision is on disk.
     *
     * @param vm its UUID or its domain's name
     */
    void stop(String vm) throws OperationRefused, IOException;

    /**
     * Renders the plan of a VM.
     *
     * @param what a ticket's id, a VM's UUID or a domain's name
     */
    VmRendering render(String what) throws OperationRefused, IOException;
}
