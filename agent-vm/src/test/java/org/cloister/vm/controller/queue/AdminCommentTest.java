package org.cloister.vm.controller.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.vm.controller.tickets.WorkerPhase;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AdminCommentTest {
    private static final int ROUNDS = 5_000;
    /** Signs that stand in a text, and some that never do. */
    private static final String SIGNS =
            "v=1 featuresticketattemptqueuebootteardown0123456789.,-_\"'`\\\n\u0000\u00e4\u0661";

    private static final String WITH_TICKET = "v=1 features=0,3 ticket=" + QueueSamples.TICKET + " attempt=2";

    @Test
    void what_the_plugin_writes_is_read() throws Exception {
        assertThat(AdminComment.parse("v=1 features=0,3")).isEqualTo(new AdminComment(List.of(0, 3), Optional.empty()));
        assertThat(AdminComment.parse("v=1 features=-").features()).isEmpty();
    }

    @Test
    void what_we_write_is_read_again() throws Exception {
        AdminComment text = AdminComment.of(QueueSamples.entry()
                .withPhases(Map.of(
                        WorkerPhase.TEARDOWN,
                        QueueSamples.seconds(0.5),
                        WorkerPhase.QUEUE,
                        Duration.ofNanos(61_002_999_999L))));
        assertThat(text.text())
                .isEqualTo("v=1 features=- ticket=" + QueueSamples.TICKET + " attempt=1 queue=61.002 teardown=0.500");
        assertThat(AdminComment.parse(text.text())).isEqualTo(text);
        assertThat(AdminComment.parse(WITH_TICKET).attempt())
                .hasValue(new AdminComment.Attempt(QueueSamples.TICKET, 2, Map.of()));
    }

    @Test
    void seconds_that_cannot_be_are_written_as_the_nearest_that_can() throws Exception {
        String text = AdminComment.of(QueueSamples.entry()
                        .withPhases(Map.of(
                                WorkerPhase.QUEUE, Duration.ofSeconds(-3), WorkerPhase.BOOT, Duration.ofDays(100_000))))
                .text();
        assertThat(text).endsWith(" queue=0.000 boot=999999999.000");
        assertThat(AdminComment.parse(text).text()).isEqualTo(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "hello",
                "{\"v\":1,\"features\":[]}",
                "v=2 features=-",
                "v=1 features=",
                "v=1 features=3,0",
                "v=1 features=0,0",
                "v=1 features=00",
                "v=1 features=32",
                "v=1 features=0,",
                "v=1 features=-,0",
                "v=1 features=- ",
                " v=1 features=-",
                "v=1  features=-",
                "v=1 features=-\n",
                "v=1 features=- more=1",
                "v=1 features=- ticket=short attempt=1",
                WITH_TICKET + "0000000000",
                WITH_TICKET + " queue=1",
                WITH_TICKET + " queue=01.000",
                WITH_TICKET + " queue=1.0000",
                WITH_TICKET + " queue=-1.000",
                WITH_TICKET + " boot=1.000 queue=1.000",
                WITH_TICKET + " boot=1.000 boot=1.000",
                WITH_TICKET + " nap=1.000",
                "v=1 features=- queue=1.000"
            })
    void anything_else_is_refused(String text) {
        assertThatThrownBy(() -> AdminComment.parse(text)).isInstanceOf(MalformedException.class);
    }

    @Test
    void a_long_text_is_refused_by_its_length() {
        assertThatThrownBy(() -> AdminComment.parse("x".repeat(AdminComment.MAX_CHARS + 1)))
                .hasMessageContaining("want at most 1024 characters, have 1025");
    }

    @Test
    void the_longest_text_has_room() throws Exception {
        Map<WorkerPhase, Duration> seconds = new EnumMap<>(WorkerPhase.class);
        for (WorkerPhase phase : WorkerPhase.values()) {
            seconds.put(phase, AdminComment.MAX_DURATION);
        }
        AdminComment longest = new AdminComment(
                IntStream.range(0, ResourceRequest.MAX_FEATURES).boxed().toList(),
                Optional.of(new AdminComment.Attempt(QueueSamples.TICKET, AdminComment.MAX_ATTEMPT, seconds)));
        assertThat(longest.text()).hasSizeLessThan(AdminComment.MAX_CHARS);
        assertThat(AdminComment.parse(longest.text())).isEqualTo(longest);
    }

    @Test
    void every_value_is_its_texts() throws Exception {
        Random random = new Random(8);
        for (int pass = 0; pass < ROUNDS; pass++) {
            AdminComment value = any(random);
            assertThat(AdminComment.parse(value.text())).isEqualTo(value);
        }
    }

    /** Of one value there is one text, and whatever is none is refused as such. */
    @Test
    void any_text_is_that_of_its_value_or_is_refused() {
        Random random = new Random(8);
        int refused = 0;
        for (int pass = 0; pass < ROUNDS; pass++) {
            String text = mutated(any(random).text(), random);
            try {
                assertThat(AdminComment.parse(text).text()).isEqualTo(text);
            } catch (MalformedException e) {
                refused++;
                assertThat(e.getMessage()).startsWith("admin comment: ").hasSizeLessThan(300);
            }
        }
        assertThat(refused).isBetween(ROUNDS / 2, ROUNDS - ROUNDS / 100);
    }

    private static AdminComment any(Random random) {
        List<Integer> features = new ArrayList<>();
        for (int place = 0; place < ResourceRequest.MAX_FEATURES; place++) {
            if (random.nextInt(8) == 0) {
                features.add(place);
            }
        }
        if (random.nextInt(4) == 0) {
            return new AdminComment(features, Optional.empty());
        }
        Map<WorkerPhase, Duration> seconds = new EnumMap<>(WorkerPhase.class);
        for (WorkerPhase phase : WorkerPhase.values()) {
            if (random.nextBoolean()) {
                seconds.put(
                        phase,
                        Duration.ofMillis(random.nextLong(AdminComment.MAX_DURATION.toMillis() >> random.nextInt(40))));
            }
        }
        byte[] id = new byte[26];
        for (int i = 0; i < id.length; i++) {
            id[i] = (byte) "abcdefghijklmnopqrstuvwxyz234567".charAt(random.nextInt(32));
        }
        return new AdminComment(
                features,
                Optional.of(new AdminComment.Attempt(
                        new String(id, StandardCharsets.US_ASCII),
                        1 + random.nextInt(AdminComment.MAX_ATTEMPT),
                        seconds)));
    }

    private static String mutated(String text, Random random) {
        StringBuilder mutated = new StringBuilder(text);
        for (int times = 1 + random.nextInt(3); times > 0; times--) {
            int at = random.nextInt(mutated.length() + 1);
            int to = Math.min(mutated.length(), at + random.nextInt(12));
            char sign = SIGNS.charAt(random.nextInt(SIGNS.length()));
            switch (random.nextInt(5)) {
                case 0 -> mutated.insert(at, sign);
                case 1 -> mutated.delete(at, to);
                case 2 -> mutated.insert(at, mutated.substring(at, to));
                case 3 ->
                    mutated.insert(random.nextInt(mutated.length() + 1), text.substring(random.nextInt(text.length())));
                default -> mutated.replace(at, Math.min(mutated.length(), at + 1), String.valueOf(sign));
            }
        }
        return mutated.toString();
    }
}
