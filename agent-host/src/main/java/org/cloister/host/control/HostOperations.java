package org.cloister.host.control;

import java.io.IOException;
import java.util.List;
import org.cloister.host.reconcile.VmLedgerEntry;

/** What a host does for its callers, who have shown that they may ask. Any thread may call. */
public interface HostOperations {
    /** A VM that somebody waits for. */
    interface Run {
        /** The VM is to end; how it did comes as ever. May be called again. */
        void stop();
    }

    /**
     * Begins to make the ticket's VM, and returns: how it goes is told. A phase is told before anything of the VM is
     * written down or made: a caller that has heard none asks for the ticket anew when the connection is lost.
     *
     * @param again the caller waited for this VM when the connection was lost, as when the daemon was started anew. No
     *     VM is made then: the caller waits on for the one that it has, or hears how that ended
     * @throws OperationRefused with nothing begun, and nothing told
     */
    Run run(JobStepCaller caller, String ticket, boolean again, VmRunListener phases) throws OperationRefused;

    HostStatus status();

    List<VmSummary> vms();

    List<VmLedgerEntry> ledger();

    /**
     * Returns when it is on disk that the VM is to end.
     *
     * @param vm its UUID or its domain's name
     */
    void stop(String vm) throws OperationRefused, IOException;

    /** @param what a ticket's id, or as in {@link #stop} */
    VmRendering render(String what) throws OperationRefused, IOException;
}
