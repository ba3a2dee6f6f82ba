package org.cloister.preflight;

import java.util.Optional;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.ProgramResult;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Checks that the clock is synchronised, since munge and certificates fail if clocks differ. Queries chrony, then
 * systemd.
 */
record ClockCheck() implements PreflightCheck {
    private static final String REMEDY = "apt-get install chrony, or dnf install chrony; then chronyc waitsync";

    @Override
    public String name() {
        return "clock";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        Optional<ProgramResult> chrony =
                machine.run("chronyc", "-n", "tracking").filter(ProgramResult::succeeded);
        if (chrony.isPresent()) {
            String status = field(chrony.get(), "Leap status").orElse("unknown");
            return status.equals("Not synchronised") || status.equals("unknown")
                    ? PreflightFinding.failure(
                            this, "chrony: leap status " + status, "chronyc sources, then chronyc waitsync")
                    : PreflightFinding.ok(
                            this,
                            "chrony: " + field(chrony.get(), "System time").orElse(status));
        }
        Optional<ProgramResult> systemd = machine.run("timedatectl", "show", "--property=NTPSynchronized", "--value")
                .filter(ProgramResult::succeeded);
        if (systemd.isEmpty()) {
            throw new UndeterminedException("neither chronyc nor timedatectl knows the clock's state", REMEDY);
        }
        return systemd.get().firstOutputLine().equals("yes")
                ? PreflightFinding.ok(this, "synchronised, says timedatectl")
                : PreflightFinding.failure(this, "not synchronised, says timedatectl", REMEDY);
    }

    private static Optional<String> field(ProgramResult chrony, String name) {
        return chrony.out()
                .lines()
                .filter(line -> line.startsWith(name))
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .findFirst();
    }
}
