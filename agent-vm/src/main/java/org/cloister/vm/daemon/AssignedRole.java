package org.cloister.vm.daemon;

import java.io.IOException;
import java.time.Duration;
import org.cloister.protocol.handover.VmAssignment;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.transport.link.AgentLinkListener;
import org.cloister.vm.boot.BootJournal;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.boot.UnassignedVm;
import org.cloister.vm.boot.VmTrustStore;
import org.cloister.vm.controller.ControllerRole;
import org.cloister.vm.controller.ControllingVm;
import org.cloister.vm.system.PowerOff;
import org.cloister.vm.worker.WorkerRole;
import org.cloister.vm.worker.WorkerVm;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The role that the VM's assignment gives it. */
final class AssignedRole {
    private static final Logger LOG = LoggerFactory.getLogger(AssignedRole.class);
    /** Shorter than the unit's stop timeout, and longer than a worker's last report and its last steps take. */
    static final Duration STOP_LIMIT = Duration.ofSeconds(150);

    private final WorkerRole workers;
    private final ControllerRole controllers;
    private final BootKeyPairs keys;
    private final PowerOff off;
    private final Runnable restart;
    private volatile @Nullable WorkerVm worker;
    private volatile @Nullable ControllingVm controlling;

    /**
     * Creates an object without a role.
     *
     * @param restart stops this process, so that another one starts; runs on a thread of its own
     */
    AssignedRole(WorkerRole workers, ControllerRole controllers, BootKeyPairs keys, PowerOff off, Runnable restart) {
        this.workers = workers;
        this.controllers = controllers;
        this.keys = keys;
        this.off = off;
        this.restart = restart;
    }

    /**
     * Cleans up and powers off a VM whose keys belonged to an earlier agent process: undoes what that process started.
     * No peer is left to which this could be reported.
     */
    void cleanUpOrphan(BootJournal journal) {
        LOG.error("the boot keys were lost with an earlier agent process; the VM is cleaned up and powers off");
        if (journal.mayHaveRequestedEvidenceAs(CertificateRole.WORKER)) {
            workers.cleanUpOrphan(keys);
        }
        if (journal.mayHaveRequestedEvidenceAs(CertificateRole.CONTROLLER)) {
            controllers.cleanUpOrphan();
        }
        off.request();
    }

    /**
     * Starts the assigned role; called on the channel's event loop. Powers the VM off if the role cannot start, since
     * the VM would do nothing.
     */
    AgentLinkListener start(VmAssignment assignment, VmTrustStore trustStore) {
        try {
            if (assignment.role() == CertificateRole.WORKER) {
                WorkerVm started = workers.start(assignment, keys, trustStore.trustStore());
                worker = started;
                restartWhenUnused(started::awaitEnd, restart);
                return started;
            }
            ControllingVm started = controllers.start(assignment, keys, trustStore);
            controlling = started;
            return started;
        } catch (IOException e) {
            LOG.error("{}: the role cannot start, so the VM powers off: {}", assignment.name(), e.getMessage());
            off.request();
            return new UnassignedVm(off::request);
        }
    }

    /** Blocks until the worker has ended, and returns whether the VM ends, too. */
    interface Termination {
        boolean awaitEnd() throws InterruptedException;
    }

    /** Restarts the agent when a worker ends unused: its VM is left to the next agent process. */
    static void restartWhenUnused(Termination termination, Runnable restart) {
        Thread waiter = new Thread(
                () -> {
                    try {
                        if (!termination.awaitEnd()) {
                            LOG.info("this process exits, and systemd starts another one");
                            restart.run();
                        }
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                "worker-end");
        waiter.setDaemon(true);
        waiter.start();
    }

    /** Stops the role: the VM leaves its job or its project before this process ends. */
    void stop() throws InterruptedException {
        WorkerVm asWorker = worker;
        if (asWorker != null) {
            asWorker.stop(STOP_LIMIT);
            asWorker.close();
        }
        ControllingVm asController = controlling;
        if (asController != null) {
            asController.stop(STOP_LIMIT);
        }
    }
}
