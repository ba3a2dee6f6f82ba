package org.cloister.preflight;

import org.cloister.preflight.machine.Machine;
import org.cloister.preflight.machine.UnknownException;

/** Yama's scope 3: nobody traces anybody, and it cannot be taken back. */
record PtraceScope() implements Check {
    private static final String FILE = "/proc/sys/kernel/yama/ptrace_scope";

    @Override
    public String name() {
        return "ptrace-scope";
    }

    @Override
    public Finding run(Machine machine) throws UnknownException {
        String scope = machine.firstWord(FILE).orElse("none (no Yama in this kernel)");
        return scope.equals("3")
                ? Finding.ok(this, "3")
                : Finding.failure(
                        this,
                        "kernel.yama.ptrace_scope: want 3, have " + scope,
                        "sysctl -w kernel.yama.ptrace_scope=3");
    }
}
