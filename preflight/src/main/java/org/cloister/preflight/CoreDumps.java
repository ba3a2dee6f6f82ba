package org.cloister.preflight;

import org.cloister.preflight.machine.Machine;
import org.cloister.preflight.machine.UnknownException;

/** A core of QEMU or of a daemon is memory on a disk. */
record CoreDumps() implements Check {
    @Override
    public String name() {
        return "core-dumps";
    }

    @Override
    public Finding run(Machine machine) throws UnknownException {
        String pattern = machine.read("/proc/sys/kernel/core_pattern")
                .orElseThrow(() ->
                        new UnknownException("/proc/sys/kernel/core_pattern is missing", "sysctl kernel.core_pattern"))
                .strip();
        if (pattern.isEmpty() || pattern.matches("\\|(/usr)?/bin/(false|true)\\b.*")) {
            return Finding.ok(this, "dropped");
        }
        return Finding.warning(
                this,
                "memory of a program that crashes goes to \"" + pattern + "\"",
                "sysctl -w kernel.core_pattern='|/bin/false', kept in /etc/sysctl.d");
    }
}
