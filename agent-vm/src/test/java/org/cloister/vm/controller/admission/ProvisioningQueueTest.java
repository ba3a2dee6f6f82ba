package org.cloister.vm.controller.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests that requests which wait together are taken together, in their order. */
class ProvisioningQueueTest {
    private final List<Runnable> tasks = new ArrayList<>();
    private final List<List<ProvisioningRequest>> batches = new ArrayList<>();
    private final ProvisioningQueue queue = new ProvisioningQueue(tasks::add, batches::add);

    private List<ProvisioningRequest> add(int count) {
        List<ProvisioningRequest> added = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            added.add(new ProvisioningRequest.End("ticket " + i));
            queue.add(added.get(i));
        }
        return added;
    }

    @Test
    void requests_that_came_while_the_thread_was_busy_are_one_batch() {
        List<ProvisioningRequest> added = add(3);
        tasks.forEach(Runnable::run);
        assertThat(batches).containsExactly(added);
    }

    @Test
    void a_batch_has_a_limit_and_the_rest_is_the_next_one() {
        List<ProvisioningRequest> added = add(ProvisioningQueue.MAX_BATCH + 1);
        tasks.forEach(Runnable::run);
        assertThat(batches)
                .containsExactly(
                        added.subList(0, ProvisioningQueue.MAX_BATCH),
                        added.subList(ProvisioningQueue.MAX_BATCH, added.size()));
    }
}
