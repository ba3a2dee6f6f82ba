package org.cloister.preflight;

import java.util.List;
import java.util.Optional;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.ProgramResult;
import org.cloister.preflight.machine.ProgramTimeoutException;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Runs {@link ProbeRom} in QEMU, with the processor and the machine that VMs get.
 *
 * @param accelerator as QEMU names it: kvm or tcg
 */
record GuestProbe(String accelerator) {
    /** Debian's name, and RHEL's path. */
    private static final List<String> EMULATORS = List.of("qemu-system-x86_64", "/usr/libexec/qemu-kvm");

    /**
     * Result of a run.
     *
     * @param text a short description
     */
    record Outcome(boolean reachedLongMode, String text) {}

    static Optional<String> emulator(InspectedMachine machine) {
        return EMULATORS.stream().filter(name -> machine.find(name).isPresent()).findFirst();
    }

    Outcome run(InspectedMachine machine) throws UndeterminedException {
        String emulator = emulator(machine)
                .orElseThrow(() -> new UndeterminedException(
                        "no QEMU to run a guest with", "apt-get install qemu-system-x86, or dnf install qemu-kvm"));
        String rom = machine.writeTemporaryFile("probe.rom", ProbeRom.image());
        try {
            return interpret(machine.run(words(emulator, rom))
                    .orElseThrow(() -> new UndeterminedException(emulator + " has gone", emulator + " --version"))
                    .requirePermitted());
        } catch (ProgramTimeoutException e) {
            // On some machines KVM starts a guest that makes no progress.
            return new Outcome(false, "-accel " + accelerator + ": " + e.reason());
        }
    }

    private List<String> words(String emulator, String rom) {
        return List.of(
                emulator,
                "-accel",
                accelerator,
                "-machine",
                "q35",
                "-cpu",
                "max",
                "-m",
                "16",
                "-nodefaults",
                "-no-user-config",
                "-display",
                "none",
                "-no-reboot",
                "-device",
                "isa-debug-exit,iobase=0xf4,iosize=4",
                "-bios",
                rom);
    }

    private static Outcome interpret(ProgramResult qemu) {
        if (qemu.status() == ProbeRom.exitStatus(ProbeRom.REACHED)) {
            return new Outcome(true, "real, protected and long mode");
        }
        if (qemu.status() == ProbeRom.exitStatus(ProbeRom.FAILED)) {
            return new Outcome(false, "the guest's processor has no long mode");
        }
        return new Outcome(false, qemu.firstErrorLine());
    }
}
