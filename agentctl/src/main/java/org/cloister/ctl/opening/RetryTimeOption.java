package org.cloister.ctl.opening;

import java.time.Duration;
import picocli.CommandLine.Option;

/** Option for the time in which a command retries while a relay does not answer. */
final class RetryTimeOption {
    @Option(
            names = "--patience",
            paramLabel = "SECONDS",
            defaultValue = "60",
            description = "How long to try again when the relay is gone; default: ${DEFAULT-VALUE}.")
    private int seconds;

    Duration time() {
        return Duration.ofSeconds(seconds);
    }
}
