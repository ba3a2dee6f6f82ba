package org.cloister.host.receipt;

import java.io.IOException;
import org.cloister.host.ledger.Maker;
import org.cloister.host.ledger.Step;
import org.cloister.host.machine.VmPlan;
import org.cloister.protocol.Digest;

/** Has it on disk that a VM is about to run before the ledger says so: no VM runs of which a receipt would know nothing. */
public final class PartMaker implements Maker {
    private final Maker maker;
    private final Parts parts;
    private final VmPlan plan;
    private final Digest ticket;

    /** @param ticket the digest of its payload */
    public PartMaker(Maker maker, Parts parts, VmPlan plan, Digest ticket) {
        this.maker = maker;
        this.parts = parts;
        this.plan = plan;
        this.ticket = ticket;
    }

    @Override
    public boolean isFree(Step step) throws IOException {
        return maker.isFree(step);
    }

    @Override
    public void make(Step step) throws IOException {
        maker.make(step);
        if (step == Step.MOVED) {
            parts.running(plan, ticket);
        }
    }
}
