package org.cloister.preflight;

import org.cloister.preflight.machine.Machine;
import org.cloister.preflight.machine.UnknownException;

/** Whether guests run on the processor: proved by one that did. {@code /dev/kvm} opens on machines whose guests hang. */
record Kvm() implements Check {
    @Override
    public String name() {
        return "kvm";
    }

    @Override
    public Finding run(Machine machine) throws UnknownException {
        GuestProbe.Outcome outcome = new GuestProbe("kvm").run(machine);
        return outcome.reachedLongMode()
                ? Finding.ok(this, "a guest ran on the processor (" + outcome.text() + ")")
                : Finding.warning(
                        this,
                        "guests will run under emulation: " + outcome.text(),
                        "switch on VT-x or AMD-V in the firmware (in a VM: nested virtualisation), then modprobe kvm_intel"
                                + " or kvm_amd");
    }
}
