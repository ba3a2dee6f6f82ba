package org.cloister.lab.booted;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabMachine;
import org.cloister.lab.project.PersonDevice;

/**
 * A person's own device, outside the site: a home folder with agentctl of this checkout on its PATH, in the site's
 * network. All people are this machine's root, so Java's home folder is not theirs.
 *
 * @param home of the person
 */
public record OwnDevice(String person, LabMachine network, Path home) {
    static OwnDevice create(String person, LabMachine network, Path home) throws IOException {
        PersonDevice.writeAgentctl(home.resolve("bin/agentctl"));
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
