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
 * What a worker that failed leaves of its logs: in a new folder in the home of the job's user, whose they are on the drive. By
 * programs that may be left behind, for the drive may not answer any more.
 */
final class FailureLogs {
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final String MOST_BYTES = "1000000";

    private final ProcessRunner programs;
    private final InstantSource clock;
    private final Map<String, Path> files;

    /** @param files by the names that they get */
    FailureLogs(ProcessRunner programs, InstantSource clock, Map<String, Path> files) {
        this.programs = programs;
        this.clock = clock;
        this.files = Map.copyOf(files);
    }

    /** @throws IOException at the first that cannot be written; a log that is not there is left out */
    void save(Path home, String worker) throws IOException {
        // Never a folder or a link that somebody has laid there.
        Path folder = home.resolve("cloister-" + worker + "-" + clock.instant().getEpochSecond());
        run("", List.of("mkdir", folder.toString()));
        for (Map.Entry<String, Path> each : files.entrySet()) {
            if (Files.isRegularFile(each.getValue(), LinkOption.NOFOLLOW_LINKS)) {
                write(
                        folder.resolve(each.getKey()),
                        "tail",
                        "-c",
                        MOST_BYTES,
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
