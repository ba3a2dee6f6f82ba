package org.cloister.host.ledger;

import org.cloister.host.vm.VmOwner;

/** One thing to do. Those for one VM are in order, and after one that fails the rest of them waits for the next look. */
public sealed interface Action {
    VmOwner owner();

    /** Write down that it ends. */
    record Finish(VmOwner owner, End end) implements Action {}

    /** Write down a VM that was found without an entry. */
    record Adopt(Entry entry) implements Action {
        @Override
        public VmOwner owner() {
            return entry.owner();
        }
    }

    /** The guest may have not begun, or it was to. */
    record Resume(VmOwner owner) implements Action {}

    /** The VM goes on, and its port is made again. */
    record Reopen(VmOwner owner) implements Action {}

    /** Ask the guest to power off; to ask twice is no harm. */
    record AskOff(VmOwner owner) implements Action {}

    /** The guest was asked, and goes on when its time is over: its domain is destroyed. */
    record CutOff(VmOwner owner) implements Action {}

    record Remove(VmOwner owner, Part part) implements Action {}

    /** Nothing of it is there any more: drop its entry. */
    record Forget(VmOwner owner, End end) implements Action {}
}
