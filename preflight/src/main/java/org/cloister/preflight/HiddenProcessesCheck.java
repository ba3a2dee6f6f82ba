package org.cloister.preflight;

import java.util.Optional;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Checks {@code hidepid=2}, with which a user of a project sees no other user's processes. Newer kernels print it as a
 * word.
 */
record HiddenProcessesCheck() implements PreflightCheck {
    @Override
    public String name() {
        return "hidepid";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        Optional<String> options = machine.read("/proc/mounts").stream()
                .flatMap(String::lines)
                .filter(line -> line.matches("\\S+ /proc proc .*"))
                .map(line -> line.split(" ", -1)[3])
                .reduce((first, last) -> last);
        if (options.isEmpty()) {
            throw new UndeterminedException(
                    "/proc/mounts does not name /proc", "mount -t proc -o hidepid=2 proc /proc");
        }
        return options.get().matches("(.*,)?hidepid=(2|invisible|4|ptraceable)(,.*)?")
                ? PreflightFinding.ok(this, "on")
                : PreflightFinding.failure(
                        this,
                        "every user sees every process: /proc is mounted " + options.get(),
                        "mount -o remount,hidepid=2 /proc");
    }
}
