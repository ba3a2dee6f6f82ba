package org.cloister.ctl.opening;

import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** Options for the size and the time limit of a controlling VM; an earlier opening may have stored their values. */
final class OpeningShapeOptions {
    @Option(
            names = "--cpus",
            paramLabel = "NUMBER",
            description = "CPUs of the VM; default: those of the drive's first opening on this device.")
    private @Nullable Integer cpus;

    @Option(
            names = "--memory",
            paramLabel = "SIZE",
            converter = MebibyteConverter.class,
            description = "Memory of the VM including all reserves, such as 8G; default: as --cpus.")
    private @Nullable Integer memoryMib;

    @ArgGroup
    private @Nullable TimeLimit time;

    @Option(
            names = "--remember",
            description = "Store this opening's CPUs, memory, time limit, drive key and MTU as the defaults from "
                    + "now on, as the first opening of a drive does.")
    private boolean remember;

    @Spec(Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    /** Options for the VM's time limit. */
    private static final class TimeLimit {
        private static final long MINUTES_OF_A_DAY = 24 * 60;

        @Option(
                names = "--minutes",
                required = true,
                paramLabel = "NUMBER",
                description = "Time limit of the VM, in minutes; default: as --cpus.")
        private int minutes;

        @Option(
                names = "--days",
                required = true,
                paramLabel = "NUMBER",
                description = "Time limit of the VM, in days; at most 366.")
        private int days;

        /** Returns the limit in minutes; one of both options is 0. */
        int minutes() {
            return (int) Math.min(minutes + days * MINUTES_OF_A_DAY, Integer.MAX_VALUE);
        }
    }

    boolean isRemembered() {
        return remember;
    }

    int cpus(Optional<OpeningDefaults> stored) {
        return value("--cpus", cpus, stored, OpeningDefaults::cpus);
    }

    int memoryMib(Optional<OpeningDefaults> stored) {
        return value("--memory", memoryMib, stored, OpeningDefaults::memoryMib);
    }

    int minutes(Optional<OpeningDefaults> stored) {
        return value("--days", time == null ? null : time.minutes(), stored, OpeningDefaults::minutes);
    }

    private int value(
            String name,
            @Nullable Integer option,
            Optional<OpeningDefaults> stored,
            Function<OpeningDefaults, Integer> field) {
        if (option != null) {
            return option;
        }
        return stored.map(field)
                .orElseThrow(() -> new ParameterException(
                        spec.commandLine(),
                        "missing option " + name + ": the first opening of a drive on this device needs it"));
    }
}
