package org.cloister.preflight;

import java.util.Optional;
import org.cloister.preflight.machine.Machine;
import org.cloister.preflight.machine.UnknownException;

/** The running kernel. 5.14 is RHEL 9's and the oldest that the rest was run on. */
record KernelVersion() implements Check {
    private static final Version OLDEST = new Version(5, 14);

    @Override
    public String name() {
        return "kernel";
    }

    @Override
    public Finding run(Machine machine) throws UnknownException {
        String release = release(machine);
        Optional<Version> version = Version.in(release);
        if (version.isEmpty()) {
            throw new UnknownException("kernel release \"" + release + "\" has no version in it", "uname -r");
        }
        return version.get().compareTo(OLDEST) < 0
                ? Finding.failure(this, "Linux " + release + " is older than " + OLDEST, "install a newer kernel")
                : Finding.ok(this, "Linux " + release);
    }

    static String release(Machine machine) throws UnknownException {
        return machine.firstWord("/proc/sys/kernel/osrelease")
                .orElseThrow(() ->
                        new UnknownException("/proc/sys/kernel/osrelease is missing", "mount -t proc proc /proc"));
    }
}
