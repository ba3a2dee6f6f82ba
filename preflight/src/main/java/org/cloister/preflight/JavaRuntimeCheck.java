package org.cloister.preflight;

import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Checks the Java that runs this program, which also runs the daemons. A Java older than 17 would not have come this
 * far.
 */
record JavaRuntimeCheck() implements PreflightCheck {
    @Override
    public String name() {
        return "java";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        String version = machine.property("java.version").orElse("unknown");
        String vendor = machine.property("java.vendor").orElse("unknown vendor");
        return version.matches("(1[7-9]|[2-9][0-9])([.+-].*)?")
                ? PreflightFinding.ok(this, "Java " + version + " (" + vendor + ")")
                : PreflightFinding.failure(
                        this,
                        "Java " + version + " (" + vendor + "): want 17 or newer",
                        "apt-get install default-jre-headless, or dnf install java-headless");
    }
}
