package org.cloister.preflight;

import java.util.Optional;
import org.cloister.preflight.machine.Machine;
import org.cloister.preflight.machine.Ran;
import org.cloister.preflight.machine.UnknownException;

/** munge and certificates fail on clocks that differ. Asks chrony, then systemd. */
record ClockSynchronised() implements Check {
    private static final String MEND = "apt-get install chrony, or dnf install chrony; then chronyc waitsync";

    @Override
    public String name() {
        return "clock";
    }

    @Override
    public Finding run(Machine machine) throws UnknownException {
        Optional<Ran> chrony = machine.run("chronyc", "-n", "tracking").filter(Ran::succeeded);
        if (chrony.isPresent()) {
            String status = field(chrony.get(), "Leap status").orElse("unknown");
            return status.equals("Not synchronised") || status.equals("unknown")
                    ? Finding.failure(this, "chrony: leap status " + status, "chronyc sources, then chronyc waitsync")
                    : Finding.ok(
                            this,
                            "chrony: " + field(chrony.get(), "System time").orElse(status));
        }
        Optional<Ran> systemd = machine.run("timedatectl", "show", "--property=NTPSynchronized", "--value")
                .filter(Ran::succeeded);
        if (systemd.isEmpty()) {
            throw new UnknownException("neither chronyc nor timedatectl knows the clock's state", MEND);
        }
        return systemd.get().answer().equals("yes")
                ? Finding.ok(this, "synchronised, says timedatectl")
                : Finding.failure(this, "not synchronised, says timedatectl", MEND);
    }

    private static Optional<String> field(Ran chrony, String name) {
        return chrony.out()
                .lines()
                .filter(line -> line.startsWith(name))
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .findFirst();
    }
}
