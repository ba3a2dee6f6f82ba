package org.cloister.preflight;

import java.util.Optional;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.ProgramResult;
import org.cloister.preflight.machine.UndeterminedException;

/** Checks the program with which libvirt runs VMs. 6.2 is the oldest with the machine type that the image boots on. */
record QemuEmulatorCheck() implements PreflightCheck {
    private static final MajorMinorVersion OLDEST = new MajorMinorVersion(6, 2);
    private static final String REMEDY = "apt-get install qemu-system-x86, or dnf install qemu-kvm";

    @Override
    public String name() {
        return "qemu";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        Optional<String> emulator = GuestProbe.emulator(machine);
        if (emulator.isEmpty()) {
            return PreflightFinding.failure(this, "there is no QEMU emulator for x86_64", REMEDY);
        }
        Optional<ProgramResult> result = machine.run(emulator.get(), "--version");
        Optional<MajorMinorVersion> version =
                result.filter(ProgramResult::succeeded).flatMap(output -> MajorMinorVersion.parseFirst(output.out()));
        if (version.isEmpty()) {
            String error = result.map(ProgramResult::firstErrorLine).orElse("gone");
            return PreflightFinding.failure(this, emulator.get() + " --version: " + error, REMEDY);
        }
        return version.get().compareTo(OLDEST) < 0
                ? PreflightFinding.failure(this, "QEMU " + version.get() + " is older than " + OLDEST, REMEDY)
                : PreflightFinding.ok(this, "QEMU " + version.get() + " (" + emulator.get() + ")");
    }
}
