package org.cloister.preflight;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.ProgramResult;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Checks that the accounts of a daemon's package have the numbers that the site expects: those of the sysusers file
 * that applies here. Accounts of an older installation keep their number, and so does one whose number was taken.
 *
 * @param file name of the sysusers file
 */
record AccountNumbersCheck(String file) implements PreflightCheck {
    /** Folders of systemd-sysusers, in the order in which a file hides those of the same name. */
    private static final List<String> FOLDERS = List.of("/etc/sysusers.d/", "/run/sysusers.d/", "/usr/lib/sysusers.d/");
    /** Line of an account with a number: {@code u NAME UID} or {@code u NAME UID:GROUP}. */
    private static final Pattern ACCOUNT =
            Pattern.compile("u!?\\s+([a-z_][a-z0-9_-]{0,31})\\s+([0-9]{1,10})(?::\\S+)?(?:\\s.*)?");

    @Override
    public String name() {
        return "account-numbers";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        for (String folder : FOLDERS) {
            Optional<String> text = machine.read(folder + file);
            if (text.isPresent()) {
                return compare(machine, folder + file, text.get());
            }
        }
        // A daemon that was installed without its package needs no such file, and agent-host stops at a failure.
        return PreflightFinding.warning(
                this,
                "no " + file + " in sysusers.d says which numbers the accounts have",
                "install the daemon's package");
    }

    private PreflightFinding compare(InspectedMachine machine, String path, String text) throws UndeterminedException {
        List<String> right = new ArrayList<>();
        List<String> wrong = new ArrayList<>();
        boolean missing = false;
        for (String line : text.lines().map(String::strip).toList()) {
            Matcher account = ACCOUNT.matcher(line);
            if (account.matches()) {
                String name = account.group(1);
                String want = account.group(2);
                Optional<ProgramResult> answer = machine.run("id", "-u", name).filter(ProgramResult::succeeded);
                String have = answer.map(ProgramResult::firstOutputLine).orElse("none");
                missing |= answer.isEmpty();
                if (have.equals(want)) {
                    right.add(name + " " + have);
                } else {
                    wrong.add(name + ": want uid " + want + ", have " + have);
                }
            }
        }
        if (missing) {
            return PreflightFinding.failure(this, path + ": " + String.join("; ", wrong), "systemd-sysusers " + file);
        }
        if (!wrong.isEmpty()) {
            return PreflightFinding.warning(
                    this,
                    path + ": " + String.join("; ", wrong),
                    "if all of the site's machines have this number, write it into /etc/sysusers.d/" + file
                            + "; otherwise give the account the site's number");
        }
        return PreflightFinding.ok(
                this, right.isEmpty() ? path + " fixes no number" : String.join(", ", right) + ", as in " + path);
    }
}
