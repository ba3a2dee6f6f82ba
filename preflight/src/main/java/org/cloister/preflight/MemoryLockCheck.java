package org.cloister.preflight;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Checks the limit of locked memory, which holds keys: 8 MiB, systemd's default, hold some thousand of them with the
 * buffers of their use.
 */
record MemoryLockCheck() implements PreflightCheck {
    private static final long REQUIRED_BYTES = 8L << 20;
    /** Bit 14: limits do not bind a process that has it. */
    private static final long CAP_IPC_LOCK = 1L << 14;

    private static final Pattern LIMIT = Pattern.compile("(?m)^Max locked memory +(\\S+) +(\\S+)");
    private static final Pattern CAPABILITIES = Pattern.compile("(?m)^CapEff:\\s*([0-9a-f]{1,16})$");

    @Override
    public String name() {
        return "memory-lock";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        Matcher limit = LIMIT.matcher(machine.read("/proc/self/limits").orElse(""));
        Matcher capabilities =
                CAPABILITIES.matcher(machine.read("/proc/self/status").orElse(""));
        if (!limit.find() || !capabilities.find()) {
            throw new UndeterminedException(
                    "/proc/self/limits or /proc/self/status does not show the limit of locked memory", "ulimit -l");
        }
        String text = "locked memory: soft limit " + limit.group(1) + ", hard limit " + limit.group(2) + " bytes";
        if ((Long.parseUnsignedLong(capabilities.group(1), 16) & CAP_IPC_LOCK) != 0) {
            return PreflightFinding.ok(this, text + ", not binding with CAP_IPC_LOCK");
        }
        if (suffices(limit.group(1))) {
            return PreflightFinding.ok(this, text);
        }
        String remedy = "LimitMEMLOCK=8M in the unit, or ulimit -l 8192";
        return suffices(limit.group(2))
                ? PreflightFinding.warning(this, text + "; want 8388608", remedy)
                : PreflightFinding.failure(this, text + "; want 8388608", remedy);
    }

    private static boolean suffices(String limit) throws UndeterminedException {
        if (limit.equals("unlimited")) {
            return true;
        }
        return Optional.of(limit)
                        .filter(text -> text.matches("[0-9]{1,18}"))
                        .map(Long::parseLong)
                        .orElseThrow(() ->
                                new UndeterminedException("limit of locked memory: \"" + limit + "\"", "ulimit -l"))
                >= REQUIRED_BYTES;
    }
}
