package org.cloister.preflight;

import org.cloister.preflight.machine.Machine;
import org.cloister.preflight.machine.UnknownException;

/** One need of a host or a VM. Decides from what the machine answers; {@link Doctor} makes a warning of what is unknown. */
interface Check {
    /** As in {@code agentctl doctor --check NAME}; once given it stays. */
    String name();

    Finding run(Machine machine) throws UnknownException;
}
