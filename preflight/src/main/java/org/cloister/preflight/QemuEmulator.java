package org.cloister.preflight;

import java.util.Optional;
import org.cloister.preflight.machine.Machine;
import org.cloister.preflight.machine.Ran;
import org.cloister.preflight.machine.UnknownException;

/** The program that libvirt runs VMs with. 6.2 is the oldest with the machine that the image boots on. */
record QemuEmulator() implements Check {
    private static final Version OLDEST = new Version(6, 2);
    private static final String MEND = "apt-get install qemu-system-x86, or dnf install qemu-kvm";

    @Override
    public String name() {
        return "qemu";
    }

    @Override
    public Finding run(Machine machine) throws UnknownException {
        Optional<String> emulator = GuestProbe.emulator(machine);
        if (emulator.isEmpty()) {
            return Finding.failure(this, "there is no QEMU emulator for x86_64", MEND);
        }
        Optional<Ran> asked = machine.run(emulator.get(), "--version");
        Optional<Version> version = asked.filter(Ran::succeeded).flatMap(ran -> Version.in(ran.out()));
        if (version.isEmpty()) {
            String said = asked.map(Ran::complaint).orElse("gone");
            return Finding.failure(this, emulator.get() + " --version: " + said, MEND);
        }
        return version.get().compareTo(OLDEST) < 0
                ? Finding.failure(this, "QEMU " + version.get() + " is older than " + OLDEST, MEND)
                : Finding.ok(this, "QEMU " + version.get() + " (" + emulator.get() + ")");
    }
}
