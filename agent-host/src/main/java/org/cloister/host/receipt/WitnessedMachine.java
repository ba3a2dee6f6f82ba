package org.cloister.host.receipt;

import java.io.IOException;
import java.util.Optional;
import java.util.function.Function;
import org.cloister.host.ledger.Entry;
import org.cloister.host.ledger.Machine;
import org.cloister.host.ledger.Part;
import org.cloister.host.ledger.Seen;
import org.cloister.host.vm.VmOwner;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A machine on which {@link Parts} sees VMs end: parts go from the domain down, so whoever takes another part away knows that
 * there is no process any more.
 */
public final class WitnessedMachine implements Machine {
    private static final Logger LOG = LoggerFactory.getLogger(WitnessedMachine.class);

    private final Machine machine;
    private final Parts parts;
    private final Function<String, Optional<Entry>> ledger;

    /** @param ledger its entry of a UUID */
    public WitnessedMachine(Machine machine, Parts parts, Function<String, Optional<Entry>> ledger) {
        this.machine = machine;
        this.parts = parts;
        this.ledger = ledger;
    }

    @Override
    public Seen look() {
        return machine.look();
    }

    @Override
    public void resume(VmOwner owner) throws IOException {
        machine.resume(owner);
    }

    @Override
    public void reopen(VmOwner owner) throws IOException {
        machine.reopen(owner);
    }

    @Override
    public void askOff(VmOwner owner) throws IOException {
        machine.askOff(owner);
    }

    @Override
    public void remove(VmOwner owner, Part part) throws IOException {
        Optional<Entry> entry = ledger.apply(owner.uuid());
        if (part != Part.DOMAIN && entry.isPresent()) {
            try {
                parts.ended(entry.get());
            } catch (IOException e) {
                // On a full disk, to take VMs away makes room; what was seen is written with what comes next.
                LOG.warn("the end of VM {} is not written down for its receipt: {}", owner.uuid(), e.toString());
            }
        }
        machine.remove(owner, part);
    }
}
