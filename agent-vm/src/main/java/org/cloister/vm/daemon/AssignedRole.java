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

/** What the VM is for, once it was told. */
final class AssignedRole {
    private static final Logger LOG = LoggerFactory.getLogger(AssignedRole.class);
    /** Within what the unit gives it to stop. */
    private static final Duration STOPPING = Duration.ofSeconds(50);

    private final WorkerRole workers;
    private final ControllerRole controllers;
    private final BootKeyPairs keys;
    private final PowerOff off;
    private final Runnable anew;
    private volatile @Nullable WorkerVm worker;
    private volatile @Nullable ControllingVm controlling;

    /** @param anew ends this process, so that another one begins; on a thread of its own */
    AssignedRole(WorkerRole workers, ControllerRole controllers, BootKeyPairs keys, PowerOff off, Runnable anew) {
        this.workers = workers;
        this.controllers = controllers;
        this.keys = keys;
        this.off = off;
        this.anew = anew;
    }

    /**
     * Ends a VM whose keys an agent before this one had: what that began is taken back, and nobody is there to whom it could be
     * said.
     */
    void cleanUpOrphan(BootJournal begun) {
        LOG.error("this boot's keys are gone with an agent before this one; the VM ends");
        if (begun.mayHaveRequestedEvidenceAs(CertificateRole.WORKER)) {
            workers.cleanUpOrphan(keys);
        }
        if (begun.mayHaveRequestedEvidenceAs(CertificateRole.CONTROLLER)) {
            controllers.cleanUpOrphan();
        }
        off.request();
    }

    /** On the channel's event loop. A VM that cannot be what it is told to be goes off: it would do nothing. */
    AgentLinkListener start(VmAssignment assignment, VmTrustStore believed) {
        try {
            if (assignment.role() == CertificateRole.WORKER) {
                WorkerVm begun = workers.start(assignment, keys, believed.trustStore());
                worker = begun;
                restartWhenUnused(begun::awaitEnd, anew);
                return begun;
            }
            ControllingVm begun = controllers.start(assignment, keys, believed);
            controlling = begun;
            return begun;
        } catch (IOException e) {
            LOG.error("{}: cannot begin, so the VM ends: {}", assignment.name(), e.getMessage());
            off.request();
            return new UnassignedVm(off::request);
        }
    }

    /** Blocks until its end. @return whether the VM ends, too */
    interface Termination {
        boolean awaitEnd() throws InterruptedException;
    }

    /** A worker that nobody has used leaves its VM to the agent after this one. */
    static void restartWhenUnused(Termination life, Runnable anew) {
        Thread waiting = new Thread(
                () -> {
                    try {
                        if (!life.awaitEnd()) {
                            LOG.info("this process ends, and another one begins anew");
                            anew.run();
                        }
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                "worker-end");
        waiting.setDaemon(true);
        waiting.start();
    }

    /** The VM leaves its job or its project before this process ends. */
    void stop() throws InterruptedException {
        WorkerVm asWorker = worker;
        if (asWorker != null) {
            asWorker.stop(STOPPING);
            asWorker.close();
        }
        ControllingVm asController = controlling;
        if (asController != null) {
            asController.stop(STOPPING);
        }
    }
}
