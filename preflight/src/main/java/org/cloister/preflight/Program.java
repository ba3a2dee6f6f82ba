package org.cloister.preflight;

import java.util.Optional;
import org.cloister.preflight.machine.Machine;

/** A program that has to be there; its start shows the rest. */
record Program(String name, String program, String debianPackage) implements Check {
    static Program needed(String name, String program, String debianPackage) {
        return new Program(name, program, debianPackage);
    }

    @Override
    public Finding run(Machine machine) {
        Optional<String> path = machine.find(program);
        return path.map(found -> Finding.ok(this, found))
                .orElseGet(() -> Finding.failure(this, program + " is missing", "apt-get install " + debianPackage));
    }
}
