package org.cloister.preflight;

import java.util.Optional;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Checks whether this JVM started from an AppCDS archive of Cloister's: one is mapped into it in addition to the JRE's
 * own. The JVM silently ignores an archive that a new JRE or a changed jar made stale, so the file's existence proves
 * nothing.
 */
record ClassArchiveCheck() implements PreflightCheck {
    @Override
    public String name() {
        return "class-archive";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        String jre = machine.property("java.home").orElse("/nowhere");
        Optional<String> archive = machine.read("/proc/self/maps").stream()
                .flatMap(String::lines)
                .filter(line -> line.contains(".jsa") && line.indexOf('/') >= 0)
                .map(line -> line.substring(line.indexOf('/')))
                .filter(path -> !path.startsWith(jre) && !path.contains("/lib/server/"))
                .findFirst();
        return archive.map(path -> PreflightFinding.ok(this, path))
                .orElseGet(() -> PreflightFinding.warning(
                        this,
                        "none in use, or a stale one: every start takes longer",
                        "dpkg-reconfigure cloister-agentctl, or dnf reinstall cloister-agentctl"));
    }
}
