package org.cloister.preflight;

import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * One need of a host or a VM. Decides from what the machine answers; {@link PreflightChecks} makes a warning of what is
 * unknown.
 */
interface PreflightCheck {
    /** As in {@code agentctl doctor --check NAME}; once given it stays. */
    String name();

    PreflightFinding run(InspectedMachine machine) throws UndeterminedException;
}
