package org.cloister.host.reconcile;

import org.cloister.host.scratch.ScratchFileName;
import org.cloister.host.vm.ResourceOwner;

/** What a VM has on its host, in the order in which it is made; it is taken away the other way round. */
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

    /** That makes it. */
    public VmStartStep startStep() {
        return step;
    }

    /** No two things of one part have the same name at a time. */
    public String nameOf(ResourceOwner owner) {
        return switch (this) {
            case OVERLAY, DOMAIN -> owner.names().domain();
            case SCRATCH -> ScratchFileName.of(owner);
            case TAP, PORT -> owner.names().tap();
        };
    }
}
