package org.cloister.host.run;

import java.time.InstantSource;
import java.util.Optional;
import org.cloister.host.HostMetrics;
import org.cloister.host.health.NodeWatch;
import org.cloister.host.ledger.Building;
import org.cloister.host.ledger.Ledger;
import org.cloister.host.machine.HostParts;
import org.cloister.host.machine.Rounds;
import org.cloister.host.plan.Images;
import org.cloister.host.receipt.Parts;
import org.cloister.host.step.GlobalJobs;
import org.cloister.host.ticket.Claims;

/**
 * With what a VM is made, watched and ended.
 *
 * @param drives empty on a host that runs no controlling VMs
 */
record RunParts(
        Ledger ledger,
        Building building,
        Rounds rounds,
        HostParts host,
        Parts receipts,
        GlobalJobs jobs,
        Claims claims,
        Images images,
        Preflight preflight,
        Readiness readiness,
        NodeWatch watch,
        HostMetrics metrics,
        Ender ender,
        Optional<DriveWatch> drives,
        InstantSource clock) {}
