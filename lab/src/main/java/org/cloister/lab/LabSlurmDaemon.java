package org.cloister.lab;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * slurmctld or slurmdbd of a machine without a service manager, started as the account that its configuration names.
 *
 * @param name of the program
 * @param account {@code root}, or the {@code SlurmUser} of its configuration
 */
public record LabSlurmDaemon(LabMachine machine, String name, String account) {
    /** Starts the daemon; its log and its folder for a process id belong to the account. */
    public void start(List<String> arguments) throws IOException {
        String owner = account + ":" + account;
        String log = machine.log(name).toString();
        machine.command("install", "-d", "-o", account, "-g", account, "/run/" + name)
                .succeed();
        machine.command("sh", "-c", ">>\"$1\" && chown \"$2\" \"$1\"", "sh", log, owner)
                .succeed();
        List<String> argv = new ArrayList<>(List.of("setpriv", "--reuid=" + account, "--regid=" + account));
        argv.add("--clear-groups");
        argv.add(name);
        argv.addAll(arguments);
        machine.command(argv).succeed();
    }
}
