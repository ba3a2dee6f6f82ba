package org.cloister.preflight;

import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/** Checks Yama's scope 3: no process may trace another, and it cannot be revoked. */
record PtraceScopeCheck() implements PreflightCheck {
    private static final String FILE = "/proc/sys/kernel/yama/ptrace_scope";

    @Override
    public String name() {
        return "ptrace-scope";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        String scope = machine.firstWord(FILE).orElse("none (no Yama in this kernel)");
        return scope.equals("3")
                ? PreflightFinding.ok(this, "3")
                : PreflightFinding.failure(
                        this,
                        "kernel.yama.ptrace_scope: want 3, have " + scope,
                        "sysctl -w kernel.yama.ptrace_scope=3");
    }
}
