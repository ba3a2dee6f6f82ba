package org.cloister.preflight;

import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/** Checks that core dumps are dropped: a core of QEMU or of a daemon is memory on a disk. */
record CoreDumpCheck() implements PreflightCheck {
    @Override
    public String name() {
        return "core-dumps";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        String pattern = machine.read("/proc/sys/kernel/core_pattern")
                .orElseThrow(() -> new UndeterminedException(
                        "/proc/sys/kernel/core_pattern is missing", "sysctl kernel.core_pattern"))
                .strip();
        if (pattern.isEmpty() || pattern.matches("\\|(/usr)?/bin/(false|true)\\b.*")) {
            return PreflightFinding.ok(this, "dropped");
        }
        return PreflightFinding.warning(
                this,
                "memory of a program that crashes goes to \"" + pattern + "\"",
                "sysctl -w kernel.core_pattern='|/bin/false', kept in /etc/sysctl.d");
    }
}
