package org.cloister.vm.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.cloister.vm.worker.state.WorkerStateMachine;
import org.junit.jupiter.api.Test;

/** Tests how a worker ends for its process. */
class WorkerTerminationTest extends WorkerSessionHarness {
    private CompletableFuture<Boolean> end() {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return worker.awaitEnd();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private void begun() throws Exception {
        boot();
        for (int i = 0; i < 400 && worker == null; i++) {
            Thread.sleep(10);
        }
    }

    @Test
    void a_worker_that_nobody_asks_anything_leaves_its_vm_to_another_process() throws Exception {
        controllers.close();
        ahead.set(WorkerStateMachine.HANDOVER_LIMIT.toNanos());
        begun();
        assertThat(end().get(20, TimeUnit.SECONDS)).as("whether the VM ends").isFalse();
        assertThat(machine.log).isEmpty();
    }

    @Test
    void a_worker_that_was_given_keys_takes_its_vm_with_it() throws Exception {
        ready();
        admission.release(WorkerFixture.TICKET);
        assertThat(end().get(20, TimeUnit.SECONDS)).as("whether the VM ends").isTrue();
    }
}
