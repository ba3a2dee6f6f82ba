package org.cloister.host.control;

import java.time.Instant;
import java.util.Optional;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.vm.ResourceOwner;

/**
 * Summary of a VM for operators.
 *
 * @param address its address in its project's network
 * @param since when its ticket was claimed
 * @param end why it ends; empty if it does not
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
