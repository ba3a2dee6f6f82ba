package org.cloister.host.reconcile;

import org.cloister.host.scratch.ScratchFileName;
import org.cloister.host.vm.ResourceOwner;

/** Kind of a VM's resource on its host, in the order of creation; removal is in reverse order. */
public enum ResourceKind {
    OVERLAY(VmStartStep.OVERLAY),
    SCRATCH(VmStartStep.SCRATCH),
    TAP(VmStartStep.TAP),
    PORT(VmStartStep.PORT),
    DOMAIN(VmStartStep.DOMAIN_PAUSED);

    private final VmStartStep step;

    ResourceKind(VmStartStep step) {
        this.step = step;
    }

    /** Returns the start step that creates it. */
    public VmStartStep startStep() {
        return step;
    }

    /** Returns the name of the owner's resource. No two resources of one kind have the same name at a time. */
    public String nameOf(ResourceOwner owner) {
        return switch (this) {
            case OVERLAY, DOMAIN -> owner.names().domain();
            case SCRATCH -> ScratchFileName.of(owner);
            case TAP, PORT -> owner.names().tap();
        };
    }
}
