package org.cloister.host.receipts;

import java.io.IOException;
import java.util.Optional;
import java.util.function.Function;
import org.cloister.host.reconcile.HostBackend;
import org.cloister.host.reconcile.ObservedState;
import org.cloister.host.reconcile.ResourceKind;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.vm.ResourceOwner;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Backend that records the end of VMs in {@link HostStatements}. Resources are removed from the domain down, so the
 * removal of any other resource shows that the VM's process is gone.
 */
public final class StatementRecordingBackend implements HostBackend {
    private static final Logger LOG = LoggerFactory.getLogger(StatementRecordingBackend.class);

    private final HostBackend machine;
    private final HostStatements parts;
    private final Function<String, Optional<VmLedgerEntry>> ledger;

    /** @param ledger returns the entry of a UUID */
    public StatementRecordingBackend(
            HostBackend machine, HostStatements parts, Function<String, Optional<VmLedgerEntry>> ledger) {
        this.machine = machine;
        this.parts = parts;
        this.ledger = ledger;
    }

    @Override
    public ObservedState observe() {
        return machine.observe();
    }

    @Override
    public void resume(ResourceOwner owner) throws IOException {
        machine.resume(owner);
    }

    @Override
    public void restorePort(ResourceOwner owner) throws IOException {
        machine.restorePort(owner);
    }

    @Override
    public void requestPowerOff(ResourceOwner owner) throws IOException {
        machine.requestPowerOff(owner);
    }

    @Override
    public void remove(ResourceOwner owner, ResourceKind part) throws IOException {
        Optional<VmLedgerEntry> entry = ledger.apply(owner.uuid());
        if (part != ResourceKind.DOMAIN && entry.isPresent()) {
            try {
                parts.recordEnd(entry.get());
            } catch (IOException e) {
                // On a full disk the removal of VMs frees space; this record is written with the next one.
                LOG.warn("the end of VM {} cannot be recorded for its receipt: {}", owner.uuid(), e.toString());
            }
        }
        machine.remove(owner, part);
    }
}
