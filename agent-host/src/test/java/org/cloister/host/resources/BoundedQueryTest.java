package org.cloister.host.resources;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.cloister.host.reconcile.SourceAnswer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class BoundedQueryTest {
    @Test
    void an_answer_is_known_and_a_failure_is_no_empty_answer() {
        BoundedQuery<String> source = new BoundedQuery<>("test", Duration.ofSeconds(60));
        assertThat(source.ask(() -> Set.of("a", "b"))).isEqualTo(new SourceAnswer.Known<>(Set.of("a", "b")));
        assertThat(source.ask(() -> {
                    throw new IOException("no such disk");
                }))
                .isEqualTo(new SourceAnswer.Unknown<String>("no such disk"));
        for (int again = 0; again < 10_000; again++) {
            assertThat(source.ask(Set::of)).isEqualTo(new SourceAnswer.Known<String>(Set.of()));
        }
    }

    @Test
    void what_does_not_come_back_is_unknown_and_is_not_asked_twice() throws InterruptedException {
        BoundedQuery<String> source = new BoundedQuery<>("test", Duration.ofMillis(200));
        CountDownLatch late = new CountDownLatch(1);
        CountDownLatch back = new CountDownLatch(1);
        BoundedQuery.Question<String> hangs = () -> {
            try {
                late.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            back.countDown();
            return Set.of("late");
        };
        assertThat(source.ask(hangs)).isEqualTo(new SourceAnswer.Unknown<String>("no answer in 200 ms"));
        assertThat(source.ask(Set::of))
                .isEqualTo(new SourceAnswer.Unknown<String>("no answer yet to an earlier question"));
        late.countDown();
        back.await();
        SourceAnswer<String> answer = source.ask(Set::of);
        while (!answer.isKnown()) {
            Thread.onSpinWait();
            answer = source.ask(Set::of);
        }
    }
}
