package org.cloister.host.reconcile;

import org.cloister.host.vm.ResourceOwner;

/**
 * Action of a reconcile pass. The actions for one VM are ordered; after one fails, the rest of them waits for the next
 * observation.
 */
public sealed interface ReconcileAction {
    ResourceOwner owner();

    /** Records that the VM ends. */
    record RecordEnd(ResourceOwner owner, VmTermination end) implements ReconcileAction {}

    /** Records a VM that was found without an entry. */
    record Adopt(VmLedgerEntry entry) implements ReconcileAction {
        @Override
        public ResourceOwner owner() {
            return entry.owner();
        }
    }

    /** Resumes the guest of a running VM; a killed daemon may not have done it. */
    record Resume(ResourceOwner owner) implements ReconcileAction {}

    /** Creates the port of a running VM again. */
    record RestorePort(ResourceOwner owner) implements ReconcileAction {}

    /** Asks the guest to power off; a repeated request does no harm. */
    record RequestPowerOff(ResourceOwner owner) implements ReconcileAction {}

    /** Destroys the domain of a guest that did not power off in its time. */
    record DestroyDomain(ResourceOwner owner) implements ReconcileAction {}

    record RemoveResource(ResourceOwner owner, ResourceKind kind) implements ReconcileAction {}

    /** Deletes the entry of a VM of which no resource is left. */
    record ForgetVm(ResourceOwner owner, VmTermination end) implements ReconcileAction {}
}
