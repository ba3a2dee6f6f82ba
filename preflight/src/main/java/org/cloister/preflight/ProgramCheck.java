package org.cloister.preflight;

import java.util.Optional;
import org.cloister.preflight.machine.InspectedMachine;

/** Checks that a program is installed; its start shows the rest. */
record ProgramCheck(String name, String program, String debianPackage) implements PreflightCheck {
    static ProgramCheck of(String name, String program, String debianPackage) {
        return new ProgramCheck(name, program, debianPackage);
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) {
        Optional<String> path = machine.find(program);
        return path.map(found -> PreflightFinding.ok(this, found))
                .orElseGet(() ->
                        PreflightFinding.failure(this, program + " is missing", "apt-get install " + debianPackage));
    }
}
