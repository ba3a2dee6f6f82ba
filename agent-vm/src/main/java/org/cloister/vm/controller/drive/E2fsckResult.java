package org.cloister.vm.controller.drive;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.cloister.base.process.ProcessRunner;

/**
 * Result of {@code e2fsck -p}, by the exit status of e2fsck(8). Its output can contain text that a holder of the
 * drive's key wrote.
 */
record E2fsckResult(ProcessRunner.Output output) {
    private static final int REPAIRED = 1;
    private static final int UNCORRECTED = 4;
    private static final int OPERATIONAL = 8;
    /** Exit status of setpriv(1) when it cannot start e2fsck, as of a shell. */
    private static final int NOT_EXECUTABLE = 126;

    private static final int NOT_STARTED = 127;
    /** Java adds a signal's number to it. */
    private static final int SIGNALLED = 128;

    /** Bits of the exit status. */
    private static final Map<Integer, String> MEANINGS = new TreeMap<>(Map.of(
            REPAIRED,
            "errors corrected",
            2,
            "errors corrected and a reboot needed",
            UNCORRECTED,
            "errors left uncorrected",
            OPERATIONAL,
            "operational error",
            16,
            "usage error",
            32,
            "cancelled",
            128,
            "shared library error"));

    private static final int MAX_OUTPUT_LINES = 3;
    private static final int MAX_LINE = 120;

    /** Returns whether the file system had no errors, or has none since e2fsck repaired it. */
    boolean isRepaired() {
        return output.exit() == 0 || output.exit() == REPAIRED;
    }

    /** Returns why the file system is not repaired and what to do, in one bounded line of printable ASCII. */
    String explanation(Path device) {
        return "e2fsck did not repair the file system on " + device + ": exit status " + output.exit() + ", "
                + meaning() + ": " + firstLines(device) + "; " + remedy();
    }

    private String meaning() {
        int exit = output.exit();
        if (exit > SIGNALLED) {
            return "killed by signal " + (exit - SIGNALLED);
        }
        if (exit == NOT_EXECUTABLE || exit == NOT_STARTED) {
            return "not started";
        }
        String meaning = MEANINGS.entrySet().stream()
                .filter(bit -> (exit & bit.getKey()) != 0)
                .map(Map.Entry::getValue)
                .collect(Collectors.joining(", "));
        return meaning.isEmpty() ? "unknown to e2fsck(8)" : meaning;
    }

    /** The first error names the failure; what e2fsck found, and repaired until then, is in its other output. */
    private String firstLines(Path device) {
        return Stream.concat(
                        lines(output.err(), device).limit(1),
                        lines(output.out(), device).limit(MAX_OUTPUT_LINES))
                .reduce((first, second) -> first + " / " + second)
                .orElse("no output");
    }

    private static Stream<String> lines(String text, Path device) {
        return text.lines()
                .map(line -> line.replace(device + ":", "").strip().replaceAll("[^ -~]", "?"))
                .filter(line -> !line.isEmpty())
                .map(line -> line.substring(0, Math.min(line.length(), MAX_LINE)));
    }

    private String remedy() {
        int exit = output.exit();
        if (exit < 2 * OPERATIONAL && (exit & (UNCORRECTED | OPERATIONAL)) != 0) {
            return "restore the drive from a copy, or run e2fsck by hand on a copy of it; except for its epoch and what"
                    + " e2fsck repaired, the drive is unchanged";
        }
        return "e2fsck itself failed: open the project again, and if it fails again, with another image of the VM";
    }
}
