package org.cloister.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SystemdWatchdogTest {
    @Test
    void notifies_three_times_in_the_units_limit() {
        assertThat(SystemdWatchdog.period(Map.of("WATCHDOG_USEC", "180000000"), 7))
                .contains(Duration.ofSeconds(60));
        assertThat(SystemdWatchdog.period(Map.of("WATCHDOG_USEC", "180000000", "WATCHDOG_PID", "7"), 7))
                .contains(Duration.ofSeconds(60));
    }

    @Test
    void is_silent_where_systemd_asks_another_process() {
        assertThat(SystemdWatchdog.period(Map.of("WATCHDOG_USEC", "180000000", "WATCHDOG_PID", "8"), 7))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "-1", "1s", "1000000000000000"})
    void is_silent_without_a_limit_that_it_can_read(String limit) {
        assertThat(SystemdWatchdog.period(Map.of("WATCHDOG_USEC", limit), 7)).isEmpty();
        assertThat(SystemdWatchdog.period(Map.of(), 7)).isEmpty();
    }
}
