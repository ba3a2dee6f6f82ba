package org.cloister.vm.system.daemon;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.cloister.base.file.WorldReadableFile;
import org.cloister.base.process.ProcessRunner;

/**
 * Controls units of systemd as their packages define them; adds settings in drop-ins below {@code /run}, which do not
 * survive the boot.
 */
public final class SystemdUnitControl implements UnitControl {
    /** Time limit of systemctl; units define their own limits, ten minutes at most for a start. */
    private static final Duration LIMIT = Duration.ofMinutes(11);

    private final ProcessRunner programs;
    private final Path folder;

    /**
     * Creates the control.
     *
     * @param folder {@code /run/systemd/system}
     */
    public SystemdUnitControl(ProcessRunner programs, Path folder) {
        this.programs = programs;
        this.folder = folder;
    }

    @Override
    public void start(String unit, String settings) throws IOException {
        Path dropIn = folder.resolve(unit + ".d/cloister.conf");
        Files.createDirectories(dropIn.getParent());
        WorldReadableFile.replace(dropIn, settings.getBytes(StandardCharsets.US_ASCII));
        run("daemon-reload");
        run("restart", unit);
        ProcessRunner.Output active = programs.run("", List.of("systemctl", "is-active", unit), LIMIT);
        if (active.exit() != 0) {
            throw new IOException(
                    unit + ": it is not active: " + active.errorSummary() + "; see journalctl -u " + unit);
        }
    }

    @Override
    public void tryRestart(String unit) throws IOException {
        run("--no-block", "try-restart", unit);
    }

    @Override
    public void stop(String unit) throws IOException {
        run("stop", unit);
    }

    private void run(String... words) throws IOException {
        List<String> command = new ArrayList<>(List.of("systemctl"));
        command.addAll(List.of(words));
        ProcessRunner.Output output = programs.run("", command, LIMIT);
        if (output.exit() != 0) {
            throw new IOException(String.join(" ", command) + ": " + output.errorSummary());
        }
    }
}
