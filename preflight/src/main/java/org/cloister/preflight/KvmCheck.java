package org.cloister.preflight;

import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Checks that guests run on the processor, by running one: {@code /dev/kvm} can be opened even on machines whose guests
 * hang.
 */
record KvmCheck() implements PreflightCheck {
    private static final String INTEL = "/sys/module/kvm_intel/parameters/ept";
    private static final String AMD = "/sys/module/kvm_amd/parameters/npt";

    @Override
    public String name() {
        return "kvm";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        GuestProbe.Outcome outcome = new GuestProbe("kvm").run(machine);
        if (!outcome.reachedLongMode()) {
            return warning(outcome.text());
        }
        // Other modules serve /dev/kvm without the processor's help, and a guest's kernel does not come up on them.
        if (machine.read(INTEL).isEmpty() && machine.read(AMD).isEmpty()) {
            return warning("/dev/kvm is of neither kvm_intel nor kvm_amd, and guests larger than the probe die there");
        }
        return PreflightFinding.ok(this, "a guest ran on the processor (" + outcome.text() + ")");
    }

    private PreflightFinding warning(String why) {
        return PreflightFinding.warning(
                this,
                "no guest runs with KVM (for emulation in production set vm.accelerator = \"tcg\"): " + why,
                "switch on VT-x or AMD-V in the firmware (in a VM: nested virtualisation), then"
                        + " modprobe kvm_intel or kvm_amd");
    }
}
