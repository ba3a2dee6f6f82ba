package org.cloister.vm.controller.jobsubmit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Optional;
import org.cloister.slurm.SlurmCommand;

/**
 * slurmctld as far as its submit plugin goes: it reads the script again when that has a later second than the one it has,
 * keeps the one it has when the new one does not load, and asks it about root's jobs.
 */
final class FakeSlurmctld {
    private static final String ASK = "local code, sentence = submitted({user_id = 0}, 0) print(sentence)";

    private final Path folder;

    FakeSlurmctld(Path folder, Path installed) throws IOException {
        this.folder = folder;
        Files.writeString(folder.resolve("ask.lua"), JobSubmitPlugin.resource("stage.lua") + ASK);
        program("sbatch", """
                if [ -e %1$s/down ]; then
                    echo 'sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)' >&2
                    exit 1
                fi
                if [ ! -e %1$s/loaded ] || [ $(stat -c %%Y %2$s) -gt $(stat -c %%Y %1$s/loaded) ]; then
                    if lua5.1 %1$s/ask.lua %2$s >/dev/null 2>&1; then
                        cp -p %2$s %1$s/loaded
                    fi
                fi
                echo "sbatch: error: $(lua5.1 %1$s/ask.lua %1$s/loaded)" >&2
                echo "allocation failure: Access/permission denied" >&2
                exit 1
                """.formatted(folder, installed));
        program("scontrol", """
                if [ -e %1$s/down ]; then
                    echo 'Slurmctld(primary) at c is DOWN'
                    exit 1
                fi
                echo 'Slurmctld(primary) at c is UP'
                """.formatted(folder));
    }

    SlurmCommand programs() {
        return new SlurmCommand(Optional.of(folder), Optional.empty(), Duration.ofSeconds(30));
    }

    void stop() throws IOException {
        Files.createFile(folder.resolve("down"));
    }

    void start() throws IOException {
        Files.delete(folder.resolve("down"));
    }

    private void program(String name, String body) throws IOException {
        Path file = Files.writeString(folder.resolve(name), "#!/bin/sh\n" + body);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
}
