package org.cloister.host.daemon;

import java.time.InstantSource;
import java.util.Optional;
import org.cloister.host.health.NodeHealthMonitor;
import org.cloister.host.metrics.HostMetrics;
import org.cloister.host.plan.GuestImages;
import org.cloister.host.receipts.HostStatements;
import org.cloister.host.reconcile.ReconcileLoop;
import org.cloister.host.reconcile.VmBuilder;
import org.cloister.host.reconcile.VmLedger;
import org.cloister.host.resources.ResourceProviders;
import org.cloister.host.slurmstep.TicketJobs;
import org.cloister.host.tickets.TicketClaims;

/**
 * Components that create, monitor and stop VMs.
 *
 * @param drives empty on a host that runs no controlling VMs
 */
record VmRunContext(
        VmLedger ledger,
        VmBuilder builder,
        ReconcileLoop reconcileLoop,
        ResourceProviders resources,
        HostStatements statements,
        TicketJobs jobs,
        TicketClaims claims,
        GuestImages images,
        HostPreflight preflight,
        HostReadiness readiness,
        NodeHealthMonitor healthMonitor,
        HostMetrics metrics,
        VmTerminator terminator,
        Optional<DriveLeaseMonitor> drives,
        InstantSource clock) {}
