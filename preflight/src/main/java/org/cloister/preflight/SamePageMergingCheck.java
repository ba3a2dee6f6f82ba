package org.cloister.preflight;

import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Checks that kernel same-page merging is off: with it, one guest can find out by timing what another has in memory.
 */
record SamePageMergingCheck() implements PreflightCheck {
    @Override
    public String name() {
        return "ksm";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        String run = machine.firstWord("/sys/kernel/mm/ksm/run").orElse("absent");
        return switch (run) {
            case "absent" -> PreflightFinding.ok(this, "this kernel has none");
            case "0", "2" -> PreflightFinding.ok(this, "off");
            case "1" ->
                PreflightFinding.failure(
                        this, "pages of guests are merged", "echo 2 > /sys/kernel/mm/ksm/run, and disable ksm.service");
            default ->
                throw new UndeterminedException(
                        "/sys/kernel/mm/ksm/run: want 0, 1 or 2, have \"" + run + "\"", "cat /sys/kernel/mm/ksm/run");
        };
    }
}
