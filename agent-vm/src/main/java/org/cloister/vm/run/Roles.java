package org.cloister.vm.run;

import java.io.IOException;
import java.time.Duration;
import org.cloister.protocol.handover.Assignment;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.AgentEvents;
import org.cloister.vm.boot.Begun;
import org.cloister.vm.boot.Believed;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.boot.Unassigned;
import org.cloister.vm.joining.Worker;
import org.cloister.vm.joining.WorkerRole;
import org.cloister.vm.machine.PowerOff;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the VM is for, once it was told. */
final class Roles {
    private static final Logger LOG = LoggerFactory.getLogger(Roles.class);
    /** Within what the unit gives it to stop. */
    private static final Duration STOPPING = Duration.ofSeconds(50);

    private final WorkerRole workers;
    private final ControllerRole controllers;
    private final BootKeyPairs keys;
    private final PowerOff off;
    private final Runnable anew;
    private volatile @Nullable Worker worker;
    private volatile @Nullable ControllingVm controlling;

    /** @param anew ends this process, so that another one begins; on a thread of its own */
    Roles(WorkerRole workers, ControllerRole controllers, BootKeyPairs keys, PowerOff off, Runnable anew) {
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
    void endOrphan(Begun begun) {
        LOG.error("this boot's keys are gone with an agent before this one; the VM ends");
        if (begun.isAskedFor(Role.WORKER)) {
            workers.endOrphan(keys);
        }
        if (begun.isAskedFor(Role.CONTROLLER)) {
            controllers.endOrphan();
        }
        off.begin();
    }

    /** On the channel's event loop. A VM that cannot be what it is told to be goes off: it would do nothing. */
    AgentEvents begin(Assignment assignment, Believed believed) {
        try {
            if (assignment.role() == Role.WORKER) {
                Worker begun = workers.begin(assignment, keys, believed.beliefs());
                worker = begun;
                whenLeft(begun::awaitEnd, anew);
                return begun;
            }
            ControllingVm begun = controllers.begin(assignment, keys, believed);
            controlling = begun;
            return begun;
        } catch (IOException e) {
            LOG.error("{}: cannot begin, so the VM ends: {}", assignment.name(), e.getMessage());
            off.begin();
            return new Unassigned(off::begin);
        }
    }

    /** Blocks until its end. @return whether the VM ends, too */
    interface Life {
        boolean awaitEnd() throws InterruptedException;
    }

    /** A worker that nobody has used leaves its VM to the agent after this one. */
    static void whenLeft(Life life, Runnable anew) {
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
        Worker asWorker = worker;
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
