package org.cloister.vm.controller.admission;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/**
 * Requests that wait for a thread, which takes those that have come meanwhile together and in their order: the more
 * workers of a job are ready at once, the fewer programs and transactions each of them costs. Thread-safe.
 */
final class ProvisioningQueue {
    /** The first workers of a large job are not to wait for its last ones. */
    static final int MAX_BATCH = 64;

    private final Executor thread;
    private final Consumer<List<ProvisioningRequest>> batches;
    private final List<ProvisioningRequest> waiting = new ArrayList<>();

    /**
     * @param thread a single thread
     * @param batches called on it with at most {@link #MAX_BATCH} requests
     */
    ProvisioningQueue(Executor thread, Consumer<List<ProvisioningRequest>> batches) {
        this.thread = thread;
        this.batches = batches;
    }

    void add(ProvisioningRequest request) {
        synchronized (waiting) {
            waiting.add(request);
        }
        // One task for each request: a task that finds none has nothing to do.
        thread.execute(() -> {
            List<ProvisioningRequest> batch = next();
            if (!batch.isEmpty()) {
                batches.accept(batch);
            }
        });
    }

    private List<ProvisioningRequest> next() {
        synchronized (waiting) {
            List<ProvisioningRequest> first = waiting.subList(0, Math.min(MAX_BATCH, waiting.size()));
            List<ProvisioningRequest> batch = List.copyOf(first);
            first.clear();
            return batch;
        }
    }
}
