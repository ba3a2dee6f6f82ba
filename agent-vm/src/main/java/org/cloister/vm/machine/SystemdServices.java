package org.cloister.vm.machine;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.cloister.vm.SharedFile;

/** Units of systemd, as their packages have them; what is ours of them lies in drop-ins that are gone with the boot. */
public final class SystemdServices implements Services {
    /** Units say themselves how long they may take. */
    private static final Duration LIMIT = Duration.ofMinutes(2);

    private final Programs programs;
    private final Path folder;

    /** @param folder {@code /run/systemd/system} */
    public SystemdServices(Programs programs, Path folder) {
        this.programs = programs;
        this.folder = folder;
    }

    @Override
    public void start(String unit, String settings) throws IOException {
        Path dropIn = folder.resolve(unit + ".d/cloister.conf");
        Files.createDirectories(dropIn.getParent());
        SharedFile.replace(dropIn, settings.getBytes(StandardCharsets.US_ASCII));
        programs.succeed("systemctl", "daemon-reload");
        run(unit, "restart");
        Programs.Output active = programs.run("systemctl", "is-active", unit);
        if (active.exit() != 0) {
            throw new IOException(
                    unit + ": want it active, have it " + active.complaint() + "; see journalctl -u " + unit);
        }
    }

    @Override
    public void renew(String unit) throws IOException {
        run(unit, "--no-block", "try-restart");
    }

    @Override
    public void stop(String unit) throws IOException {
        run(unit, "stop");
    }

    private void run(String unit, String... verb) throws IOException {
        List<String> words = new ArrayList<>(List.of("systemctl"));
        words.addAll(List.of(verb));
        words.add(unit);
        Programs.Output output = programs.run("", words, LIMIT);
        if (output.exit() != 0) {
            throw new IOException(String.join(" ", words) + ": " + output.complaint());
        }
    }
}
