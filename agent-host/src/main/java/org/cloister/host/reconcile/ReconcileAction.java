package org.cloister.host.reconcile;

import org.cloister.host.vm.ResourceOwner;

/** One thing to do. Those for one VM are in order, and after one that fails the rest of them waits for the next look. */
public sealed interface ReconcileAction {
    ResourceOwner owner();

    /** Write down that it ends. */
    record RecordEnd(ResourceOwner owner, VmTermination end) implements ReconcileAction {}

    /** Write down a VM that was found without an entry. */
    record Adopt(VmLedgerEntry entry) implements ReconcileAction {
        @Override
        public ResourceOwner owner() {
            return entry.owner();
        }
    }

    /** The guest may have not begun, or it was to. */
    record Resume(ResourceOwner owner) implements ReconcileAction {}

    /** The VM goes on, and its port is made again. */
    record RestorePort(ResourceOwner owner) implements ReconcileAction {}

    /** Ask the guest to power off; to ask twice is no harm. */
    record RequestPowerOff(ResourceOwner owner) implements ReconcileAction {}

    /** The guest was asked, and goes on when its time is over: its domain is destroyed. */
    record DestroyDomain(ResourceOwner owner) implements ReconcileAction {}

    record RemoveResource(ResourceOwner owner, ResourceKind kind) implements ReconcileAction {}

    /** Nothing of it is there any more: drop its entry. */
    record ForgetVm(ResourceOwner owner, VmTermination end) implements ReconcileAction {}
}
