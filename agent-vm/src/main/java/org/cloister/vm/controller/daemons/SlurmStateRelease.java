package org.cloister.vm.controller.daemons;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.cloister.base.file.AtomicFile;
import org.cloister.base.process.ProcessRunner;
import org.cloister.vm.controller.drive.DriveLayout;
import org.cloister.vm.controller.drive.DriveOpenRefused;
import org.cloister.vm.rpcfilter.SlurmRelease;

/**
 * The release of Slurm whose state and accounting a drive has. Slurm reads that of few releases before its own, and of
 * none after it; its daemons would say so in the journal alone, minutes later. So a drive that this machine's Slurm
 * cannot take is refused by name.
 */
public final class SlurmStateRelease {
    private static final String NAME = "slurm-release";
    private static final int MAX_LENGTH = 20;

    private final DriveLayout layout;
    private final SlurmRelease own;

    SlurmStateRelease(DriveLayout layout, SlurmRelease own) {
        this.layout = layout;
        this.own = own;
    }

    /** Returns the release of this machine's slurmctld for a mounted drive. */
    public static SlurmStateRelease of(ProcessRunner programs, DriveLayout layout) throws IOException {
        return new SlurmStateRelease(layout, installed(programs));
    }

    /** @throws IOException if the installed release is none that the filter knows */
    static SlurmRelease installed(ProcessRunner programs) throws IOException {
        String version = programs.runChecked("slurmctld", "-V");
        return SlurmRelease.ofVersionOutput(version)
                .orElseThrow(() ->
                        new IOException("slurmctld -V: expected one of Slurm's releases that the filter knows, got "
                                + new ProcessRunner.Output(0, version, "").errorSummary()));
    }

    /**
     * Compares the drive's release with this machine's. Must precede the first change of the drive's folders.
     *
     * @throws DriveOpenRefused if Slurm does not read the state that is there
     */
    public void require() throws IOException {
        if (!hasState()) {
            return;
        }
        String found = recorded();
        Optional<SlurmRelease> release = SlurmRelease.of(found);
        if (release.isEmpty() || !own.readsStateOf(release.get())) {
            throw new DriveOpenRefused(
                    DriveOpenRefused.Reason.DRIVE,
                    "drive",
                    "state of a Slurm that " + own + " reads",
                    "state of Slurm " + found,
                    "open the project with an image of that release");
        }
    }

    /** Records this machine's release. Must follow the drive's folders' creation, and precede slurmctld's start. */
    public void write() throws IOException {
        AtomicFile.replace(file(), (own + "\n").getBytes(StandardCharsets.US_ASCII));
    }

    private boolean hasState() throws IOException {
        if (!Files.isDirectory(layout.slurmState())) {
            return false;
        }
        try (Stream<Path> files = Files.list(layout.slurmState())) {
            return files.findAny().isPresent();
        }
    }

    /** Images of Debian 12, with Slurm 22.05, recorded none. */
    private String recorded() throws IOException {
        return AtomicFile.exists(file())
                ? new String(AtomicFile.read(file(), MAX_LENGTH), StandardCharsets.US_ASCII).strip()
                : SlurmRelease.V22_05.toString();
    }

    private Path file() {
        return layout.agentFolder().resolve(NAME);
    }
}
