package org.cloister.vm.worker.steps;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.cloister.base.process.ProcessRunner;

/**
 * Saves the logs of a failed worker to a new folder in the home of the job's user, who owns them on the drive. Writes
 * through separate programs that can be abandoned, since the drive may not respond any more.
 */
final class FailureLogs {
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final String MAX_BYTES = "1000000";

    private final ProcessRunner programs;
    private final InstantSource clock;
    private final Map<String, Path> files;

    /**
     * Creates the saver.
     *
     * @param files logs by the names under which they are saved
     */
    FailureLogs(ProcessRunner programs, InstantSource clock, Map<String, Path> files) {
        this.programs = programs;
        this.clock = clock;
        this.files = Map.copyOf(files);
    }

    /**
     * Saves all logs; leaves out a log that does not exist.
     *
     * @throws IOException at the first that cannot be written
     */
    void save(Path home, String worker) throws IOException {
        // Never an existing folder or link: anyone could have created one there.
        Path folder = home.resolve("cloister-" + worker + "-" + clock.instant().getEpochSecond());
        run("", List.of("mkdir", folder.toString()));
        for (Map.Entry<String, Path> each : files.entrySet()) {
            if (Files.isRegularFile(each.getValue(), LinkOption.NOFOLLOW_LINKS)) {
                write(
                        folder.resolve(each.getKey()),
                        "tail",
                        "-c",
                        MAX_BYTES,
                        each.getValue().toString());
            }
        }
        write(folder.resolve("journal"), "journalctl", "--boot", "--lines=5000", "--no-pager");
    }

    private void write(Path to, String... command) throws IOException {
        run(programs.run("", List.of(command), LIMIT).out(), List.of("tee", to.toString()));
    }

    private void run(String input, List<String> command) throws IOException {
        ProcessRunner.Output output = programs.run(input, command, LIMIT);
        if (output.exit() != 0) {
            throw new IOException(command.get(0) + ": " + output.errorSummary());
        }
    }
}
