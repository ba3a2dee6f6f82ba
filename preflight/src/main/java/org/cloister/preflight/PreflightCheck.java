package org.cloister.preflight;

import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Checks one requirement of a host or a VM. Decides from the machine's answers; {@link PreflightChecks} reports an item
 * that cannot be determined as a warning.
 */
interface PreflightCheck {
    /** Returns the name used in {@code agentctl doctor --check NAME}; it never changes once released. */
    String name();

    PreflightFinding run(InspectedMachine machine) throws UndeterminedException;
}
