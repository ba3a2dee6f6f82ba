package org.cloister.preflight;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.ProgramResult;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Checks the limit of the overlay in RAM that takes a guest's writes to its root: a limit below all of RAM keeps a job
 * from starving its own daemons.
 */
record RamOverlayCheck() implements PreflightCheck {
    private static final Pattern MEMORY = Pattern.compile("(?m)^MemTotal:\\s+([0-9]{1,15}) kB$");
    private static final String REMEDY = "boot the image that packaging/image builds";

    @Override
    public String name() {
        return "ram-overlay";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        Optional<String> type = machine.read("/proc/mounts").stream()
                .flatMap(String::lines)
                .filter(line -> line.matches("\\S+ / .*"))
                .map(line -> line.split(" ", -1)[2])
                .reduce((first, last) -> last);
        if (!type.equals(Optional.of("overlay"))) {
            return PreflightFinding.failure(
                    this, "the root file system is not an overlay in RAM, but " + type.orElse("unknown"), REMEDY);
        }
        // An overlay's size is that of the file system which takes its writes.
        Optional<String> size = machine.run("df", "-k", "--output=size", "/")
                .filter(ProgramResult::succeeded)
                .flatMap(df -> df.out()
                        .lines()
                        .map(String::strip)
                        .filter(line -> line.matches("[0-9]{1,15}"))
                        .findFirst());
        Matcher memory = MEMORY.matcher(machine.read("/proc/meminfo").orElse(""));
        if (size.isEmpty() || !memory.find()) {
            throw new UndeterminedException(
                    "neither df nor /proc/meminfo shows the overlay's size", "df -k --output=size /");
        }
        long limit = Long.parseLong(size.get());
        long total = Long.parseLong(memory.group(1));
        String text = "overlay of " + limit + " KiB in " + total + " KiB of RAM";
        return limit > 0 && limit < total
                ? PreflightFinding.ok(this, text)
                : PreflightFinding.failure(this, text + ": want a limit below", REMEDY);
    }
}
