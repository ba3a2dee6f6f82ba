package org.cloister.preflight;

import java.util.List;
import java.util.Optional;
import org.cloister.preflight.machine.Machine;
import org.cloister.preflight.machine.NoAnswerException;
import org.cloister.preflight.machine.Ran;
import org.cloister.preflight.machine.UnknownException;

/**
 * Runs {@link ProbeRom} in QEMU, with the processor and the machine that VMs get.
 *
 * @param accelerator as QEMU names it: kvm or tcg
 */
record GuestProbe(String accelerator) {
    /** Debian's name, and where RHEL keeps it. */
    private static final List<String> EMULATORS = List.of("qemu-system-x86_64", "/usr/libexec/qemu-kvm");

    /** @param text what happened, in a few words */
    record Outcome(boolean reachedLongMode, String text) {}

    static Optional<String> emulator(Machine machine) {
        return EMULATORS.stream().filter(name -> machine.find(name).isPresent()).findFirst();
    }

    Outcome run(Machine machine) throws UnknownException {
        String emulator = emulator(machine)
                .orElseThrow(() -> new UnknownException(
                        "no QEMU to run a guest with", "apt-get install qemu-system-x86, or dnf install qemu-kvm"));
        String rom = machine.scratch("probe.rom", ProbeRom.image());
        try {
            return judge(machine.run(words(emulator, rom))
                    .orElseThrow(() -> new UnknownException(emulator + " has gone", emulator + " --version"))
                    .requireAllowed());
        } catch (NoAnswerException e) {
            // On some machines KVM starts a guest that never gets anywhere.
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

    private static Outcome judge(Ran qemu) {
        if (qemu.status() == ProbeRom.exitStatus(ProbeRom.REACHED)) {
            return new Outcome(true, "real, protected and long mode");
        }
        if (qemu.status() == ProbeRom.exitStatus(ProbeRom.FAILED)) {
            return new Outcome(false, "the guest's processor has no long mode");
        }
        return new Outcome(false, qemu.complaint());
    }
}
