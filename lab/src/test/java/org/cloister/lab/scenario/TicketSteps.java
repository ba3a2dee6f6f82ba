package org.cloister.lab.scenario;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;

/** Job step of tickets: a script that records its start in a folder, and ends when and as a file there says. */
record TicketSteps(Path folder) {
    /** A ticket's step on one node. */
    record Step(String ticket, long job, String node) {
        private static Step of(Path file) {
            String[] words = file.getFileName().toString().split("\\.", 4);
            return new Step(words[1], Long.parseLong(words[2]), words[3]);
        }
    }

    static TicketSteps create(Path folder) throws IOException {
        Files.createDirectories(folder);
        Path script = folder.resolve("step");
        Files.writeString(script, """
                #!/bin/sh
                me=$1.$SLURM_JOB_ID.$SLURMD_NODENAME
                trap 'echo over >%1$s/over.$me' EXIT
                trap 'exit 143' TERM
                echo begun >>%1$s/begun.$me
                while [ ! -e %1$s/end.$1 ]; do sleep 0.1; done
                exit $(cat %1$s/end.$1)
                """.formatted(folder));
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
        return new TicketSteps(folder);
    }

    Path script() {
        return folder.resolve("step");
    }

    List<Step> started(String node) throws IOException {
        return of("begun", node);
    }

    /** Of their own accord or by Slurm's signal; a step whose node broke says nothing any more. */
    List<Step> ended(String node) throws IOException {
        return of("over", node);
    }

    /** How often the steps of a ticket began, on all nodes together. */
    int starts(String ticket) throws IOException {
        int starts = 0;
        for (Path file : files()) {
            if (file.getFileName().toString().startsWith("begun." + ticket + ".")) {
                starts += Files.readAllLines(file).size();
            }
        }
        return starts;
    }

    void finish(String ticket, int exit) throws IOException {
        Path next = Files.writeString(folder.resolve("." + ticket), exit + "\n");
        Files.move(next, folder.resolve("end." + ticket), StandardCopyOption.ATOMIC_MOVE);
    }

    private List<Step> of(String what, String node) throws IOException {
        return files().stream()
                .filter(file -> file.getFileName().toString().startsWith(what + "."))
                .map(Step::of)
                .filter(step -> step.node().equals(node))
                .toList();
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }
}
