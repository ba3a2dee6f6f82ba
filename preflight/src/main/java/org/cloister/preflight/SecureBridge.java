package org.cloister.preflight;

import java.util.Optional;
import org.cloister.preflight.machine.Machine;
import org.cloister.preflight.machine.Ran;
import org.cloister.preflight.machine.UnknownException;

/** The bridge that VMs hang on. In any other fail mode it forwards everything once vswitchd has restarted. */
record SecureBridge() implements Check {
    static final String BRIDGE = "br-secure";
    private static final String MAKE =
            "ovs-vsctl --may-exist add-br " + BRIDGE + " -- set-fail-mode " + BRIDGE + " secure";

    @Override
    public String name() {
        return "bridge";
    }

    @Override
    public Finding run(Machine machine) throws UnknownException {
        Optional<Ran> bridges = OpenVswitch.ask(machine, "list-br").filter(Ran::succeeded);
        if (bridges.isEmpty()) {
            throw new UnknownException(
                    "Open vSwitch does not answer", "agentctl doctor --check open-vswitch says how to start it");
        }
        if (bridges.get().out().lines().noneMatch(BRIDGE::equals)) {
            return Finding.warning(this, "there is no bridge " + BRIDGE, MAKE);
        }
        String mode = OpenVswitch.ask(machine, "get-fail-mode", BRIDGE)
                .map(Ran::answer)
                .orElse("");
        return mode.equals("secure")
                ? Finding.ok(this, BRIDGE + ", fail-mode secure")
                : Finding.failure(
                        this, BRIDGE + ": want fail-mode secure, have " + (mode.isEmpty() ? "none" : mode), MAKE);
    }
}
