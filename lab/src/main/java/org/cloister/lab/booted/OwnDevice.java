package org.cloister.lab.booted;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabMachine;
import org.cloister.lab.project.PersonDevice;

/**
 * A person's own device, outside the site: a home folder with agentctl of this checkout on its PATH, in the site's
 * network. All people are this machine's root, whose home folder Java and ssh find in the user database: agentctl, ssh
 * and scp have the person's by options.
 *
 * @param home of the person
 */
public record OwnDevice(String person, LabMachine network, Path home) {
    static OwnDevice create(String person, LabMachine network, Path home) throws IOException {
        Path bin = home.resolve("bin");
        PersonDevice.writeAgentctl(bin.resolve("agentctl"));
        for (String program : List.of("ssh", "scp")) {
            Path file = Files.writeString(bin.resolve(program), """
                    #!/bin/sh
                    exec /usr/bin/%s -F "$HOME/.ssh/config" "$@"
                    """.formatted(program));
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        // As a login has it, in memory.
        network.command("install", "-d", "-m", "700", runtime(person)).succeed();
        return new OwnDevice(person, network, home);
    }

    /** Returns a shell script to run at the person's terminal, in the home folder. */
    public LabCommand terminal(Path script) throws IOException {
        String path = home.resolve("bin") + ":/usr/local/bin:/usr/bin:/bin";
        return TerminalSession.in(network)
                .command(List.of(
                        "env",
                        "-i",
                        "-C",
                        home.toString(),
                        "HOME=" + home,
                        "XDG_CONFIG_HOME=" + home.resolve(".config"),
                        "XDG_STATE_HOME=" + home.resolve(".local/state"),
                        "USER=" + person,
                        "XDG_RUNTIME_DIR=" + runtime(person),
                        "TERM=dumb",
                        "PATH=" + path,
                        "bash",
                        "-euo",
                        "pipefail",
                        script.toString()));
    }

    private static String runtime(String person) {
        return "/run/" + person;
    }
}
