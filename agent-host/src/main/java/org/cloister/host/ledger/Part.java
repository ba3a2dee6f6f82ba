package org.cloister.host.ledger;

import org.cloister.host.disk.ScratchName;
import org.cloister.host.vm.VmOwner;

/** What a VM has on its host, in the order in which it is made; it is taken away the other way round. */
public enum Part {
    OVERLAY(Step.OVERLAY),
    SCRATCH(Step.SCRATCH),
    TAP(Step.TAP),
    PORT(Step.PORT),
    DOMAIN(Step.DOMAIN_PAUSED);

    private final Step step;

    Part(Step step) {
        this.step = step;
    }

    /** That makes it. */
    public Step step() {
        return step;
    }

    /** No two things of one part have the same name at a time. */
    public String nameOf(VmOwner owner) {
        return switch (this) {
            case OVERLAY, DOMAIN -> owner.name().domain();
            case SCRATCH -> ScratchName.of(owner);
            case TAP, PORT -> owner.name().tap();
        };
    }
}
