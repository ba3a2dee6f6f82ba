package org.cloister.host.control;

import java.time.Instant;
import java.util.Optional;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.vm.ResourceOwner;

/**
 * A VM as operators see it.
 *
 * @param address its own in its project's network
 * @param since its ticket was claimed
 * @param end why it ends; empty if it goes on
 */
public record VmSummary(
        ResourceOwner owner,
        VmStartStep step,
        int cpus,
        int memoryMib,
        int vlan,
        String address,
        Instant since,
        Optional<VmTermination.Why> end) {}
