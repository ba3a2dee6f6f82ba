package org.cloister.luks.volume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CallThreadTest {
    @Test
    void a_step_runs_in_a_thread_that_has_ended() throws Exception {
        List<Thread> threads = new ArrayList<>();
        CallThread.run("step", () -> threads.add(Thread.currentThread()));
        assertThat(threads).singleElement().isNotSameAs(Thread.currentThread());
        assertThat(threads.get(0).isAlive()).isFalse();
    }

    @Test
    void whatever_ends_a_step_is_the_callers() {
        for (Throwable each : new Throwable[] {new IllegalStateException("a"), new LinkageError("b")}) {
            assertThatThrownBy(() -> CallThread.run("step", () -> {
                        if (each instanceof Error error) {
                            throw error;
                        }
                        throw (RuntimeException) each;
                    }))
                    .isSameAs(each);
        }
    }
}
