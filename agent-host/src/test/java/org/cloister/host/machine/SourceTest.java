package org.cloister.host.machine;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.cloister.host.ledger.Answer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class SourceTest {
    @Test
    void an_answer_is_known_and_a_failure_is_no_empty_answer() {
        Source<String> source = new Source<>("test", Duration.ofSeconds(60));
        assertThat(source.ask(() -> Set.of("a", "b"))).isEqualTo(new Answer.Known<>(Set.of("a", "b")));
        assertThat(source.ask(() -> {
                    throw new IOException("no such disk");
                }))
                .isEqualTo(new Answer.Unknown<String>("no such disk"));
        for (int again = 0; again < 10_000; again++) {
            assertThat(source.ask(Set::of)).isEqualTo(new Answer.Known<String>(Set.of()));
        }
    }

    @Test
    void what_does_not_come_back_is_unknown_and_is_not_asked_twice() throws InterruptedException {
        Source<String> source = new Source<>("test", Duration.ofMillis(200));
        CountDownLatch late = new CountDownLatch(1);
        CountDownLatch back = new CountDownLatch(1);
        Source.Question<String> hangs = () -> {
            try {
                late.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            back.countDown();
            return Set.of("late");
        };
        assertThat(source.ask(hangs)).isEqualTo(new Answer.Unknown<String>("no answer in 200 ms"));
        assertThat(source.ask(Set::of)).isEqualTo(new Answer.Unknown<String>("no answer yet to an earlier question"));
        late.countDown();
        back.await();
        Answer<String> answer = source.ask(Set::of);
        while (!answer.isKnown()) {
            Thread.onSpinWait();
            answer = source.ask(Set::of);
        }
    }
}
