package org.cloister.preflight;

import org.cloister.preflight.machine.Machine;
import org.cloister.preflight.machine.UnknownException;

/** Kernel same-page merging lets one guest find out by timing what another has in memory. */
record SamePageMerging() implements Check {
    @Override
    public String name() {
        return "ksm";
    }

    @Override
    public Finding run(Machine machine) throws UnknownException {
        String run = machine.firstWord("/sys/kernel/mm/ksm/run").orElse("absent");
        return switch (run) {
            case "absent" -> Finding.ok(this, "this kernel has none");
            case "0", "2" -> Finding.ok(this, "off");
            case "1" ->
                Finding.failure(
                        this, "pages of guests are merged", "echo 2 > /sys/kernel/mm/ksm/run, and disable ksm.service");
            default ->
                throw new UnknownException(
                        "/sys/kernel/mm/ksm/run: want 0, 1 or 2, have \"" + run + "\"", "cat /sys/kernel/mm/ksm/run");
        };
    }
}
