package org.cloister.vm.controller;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends a controlling VM, once: releases its resources in order and then shuts the VM down. Records a failure on the
 * drive before that; an end that was requested leaves no record.
 */
final class ControllerShutdown {
    private static final Logger LOG = LoggerFactory.getLogger(ControllerShutdown.class);

    private final AtomicBoolean over = new AtomicBoolean();
    private final Executor work;
    private final Consumer<String> recorder;
    private final Runnable release;
    private final VmShutdown shutdown;

    /**
     * @param work runs the end; it may block
     * @param recorder writes the reason to the drive, if that is open
     * @param release releases all resources
     */
    ControllerShutdown(Executor work, Consumer<String> recorder, Runnable release, VmShutdown shutdown) {
        this.work = work;
        this.recorder = recorder;
        this.release = release;
        this.shutdown = shutdown;
    }

    /** Returns whether the VM is ending. */
    boolean isOver() {
        return over.get();
    }

    /** Marks the VM as ending; returns false if it was before. */
    boolean start() {
        return over.compareAndSet(false, true);
    }

    /** Ends the VM after a failure. */
    void shutDownAfterFailure(String why) {
        if (start()) {
            LOG.error("this VM shuts down: {}", why);
            work.execute(() -> {
                try {
                    recorder.accept(why);
                } finally {
                    releaseAndShutDown(why);
                }
            });
        }
    }

    /** Ends the VM, which has {@link #start started} to end, without a failure. */
    void shutDownOnRequest(String why) {
        work.execute(() -> releaseAndShutDown(why));
    }

    /** Cuts the power at once, also during an orderly shutdown. Writes nothing: the drive may be another VM's. */
    void cutPower(String why) {
        over.set(true);
        LOG.error("this VM cuts its own power: {}", why);
        shutdown.cutPower(why);
    }

    private void releaseAndShutDown(String why) {
        try {
            release.run();
        } finally {
            shutdown.shutDown(why);
        }
    }
}
