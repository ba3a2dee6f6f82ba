package org.cloister.ctl.opening;

import java.time.Duration;
import picocli.CommandLine.Option;

/** Option for the time in which a command retries while a relay does not answer. */
final class RetryTimeOption {
    @Option(
            names = "--patience",
            paramLabel = "SECONDS",
            defaultValue = "60",
            description = "How long to retry when the relay does not answer; default: ${DEFAULT-VALUE}.")
    private int seconds;

    Duration time() {
        return Duration.ofSeconds(seconds);
    }
}
