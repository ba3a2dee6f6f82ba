package org.cloister.preflight;

import java.util.Optional;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/** Checks the running kernel's version. 5.14 is RHEL 9's, and the oldest with which the rest was run. */
record KernelVersionCheck() implements PreflightCheck {
    private static final MajorMinorVersion OLDEST = new MajorMinorVersion(5, 14);

    @Override
    public String name() {
        return "kernel";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        String release = release(machine);
        Optional<MajorMinorVersion> version = MajorMinorVersion.parseFirst(release);
        if (version.isEmpty()) {
            throw new UndeterminedException("kernel release \"" + release + "\" has no version in it", "uname -r");
        }
        return version.get().compareTo(OLDEST) < 0
                ? PreflightFinding.failure(
                        this, "Linux " + release + " is older than " + OLDEST, "install a newer kernel")
                : PreflightFinding.ok(this, "Linux " + release);
    }

    static String release(InspectedMachine machine) throws UndeterminedException {
        return machine.firstWord("/proc/sys/kernel/osrelease")
                .orElseThrow(() ->
                        new UndeterminedException("/proc/sys/kernel/osrelease is missing", "mount -t proc proc /proc"));
    }
}
