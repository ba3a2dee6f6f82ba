package org.cloister.preflight;

import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Checks that guests run on the processor, by running one: {@code /dev/kvm} can be opened even on machines whose guests
 * hang.
 */
record KvmCheck() implements PreflightCheck {
    @Override
    public String name() {
        return "kvm";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        GuestProbe.Outcome outcome = new GuestProbe("kvm").run(machine);
        return outcome.reachedLongMode()
                ? PreflightFinding.ok(this, "a guest ran on the processor (" + outcome.text() + ")")
                : PreflightFinding.warning(
                        this,
                        "no guest runs with KVM (for emulation in production set vm.accelerator = \"tcg\"): "
                                + outcome.text(),
                        "switch on VT-x or AMD-V in the firmware (in a VM: nested virtualisation), then"
                                + " modprobe kvm_intel or kvm_amd, and restart agent-host");
    }
}
