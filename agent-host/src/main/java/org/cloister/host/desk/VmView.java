package org.cloister.host.desk;

import java.time.Instant;
import java.util.Optional;
import org.cloister.host.ledger.End;
import org.cloister.host.ledger.Step;
import org.cloister.host.vm.VmOwner;

/**
 * A VM as operators see it.
 *
 * @param address its own in its project's network
 * @param since its ticket was claimed
 * @param end why it ends; empty if it goes on
 */
public record VmView(
        VmOwner owner,
        Step step,
        int cpus,
        int memoryMib,
        int vlan,
        String address,
        Instant since,
        Optional<End.Why> end) {}
