package org.cloister.preflight;

import java.util.Optional;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.ProgramResult;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Checks the bridge to which VMs are attached. In any fail mode but secure it forwards everything once vswitchd has
 * restarted.
 */
record SecureBridgeCheck() implements PreflightCheck {
    static final String BRIDGE = "br-secure";
    private static final String MAKE = "agentctl host prepare";

    @Override
    public String name() {
        return "bridge";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        Optional<ProgramResult> bridges =
                OpenVswitchCheck.queryDatabase(machine, "list-br").filter(ProgramResult::succeeded);
        if (bridges.isEmpty()) {
            throw new UndeterminedException(
                    "Open vSwitch does not answer", "agentctl doctor --check open-vswitch says how to start it");
        }
        if (bridges.get().out().lines().noneMatch(BRIDGE::equals)) {
            return PreflightFinding.warning(this, "there is no bridge " + BRIDGE, MAKE);
        }
        String mode = OpenVswitchCheck.queryDatabase(machine, "get-fail-mode", BRIDGE)
                .map(ProgramResult::firstOutputLine)
                .orElse("");
        return mode.equals("secure")
                ? PreflightFinding.ok(this, BRIDGE + ", fail-mode secure")
                : PreflightFinding.failure(
                        this, BRIDGE + ": want fail-mode secure, have " + (mode.isEmpty() ? "none" : mode), MAKE);
    }
}
