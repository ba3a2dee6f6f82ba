package org.cloister.ctl.vm;

import java.io.IOException;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Report of agent-vm about its VM's boot, docs/image.md.
 *
 * @param phase the last phase that was reached
 * @param keys ids of this boot's public keys, by use; empty before the keys exist
 * @param reached seconds from the kernel's start, by phase, in the file's order
 */
record BootReport(String phase, Map<String, String> keys, Map<String, BigDecimal> reached) {
    private static final String FILE = "/run/cloister/agent-vm.status";
    private static final Pattern PHASE = Pattern.compile("phase ([a-z]{1,20})");
    private static final Pattern KEY = Pattern.compile("(signing|sealing) ([a-z2-7]{52})");
    private static final Pattern REACHED =
            Pattern.compile("([a-z]{1,20}) ([0-9]{1,9}\\.[0-9]{2}) [0-9]{1,9}\\.[0-9]{2}");

    static BootReport read(InspectedMachine machine) throws IOException {
        String text = machine.read(FILE)
                .orElseThrow(() -> new UndeterminedException(
                        FILE + ": no such file: agent-vm does not run here",
                        "ask in a VM of a project; there, systemctl status agent-vm"));
        return parse(text.lines().toList());
    }

    static BootReport parse(List<String> lines) throws UndeterminedException {
        String phase = "";
        Map<String, String> keys = new LinkedHashMap<>();
        Map<String, BigDecimal> reached = new LinkedHashMap<>();
        for (String line : lines) {
            Matcher isPhase = PHASE.matcher(line);
            Matcher isKey = KEY.matcher(line);
            Matcher isReached = REACHED.matcher(line);
            boolean isFound = false;
            if (isPhase.matches()) {
                isFound = phase.isEmpty();
                phase = isPhase.group(1);
            } else if (isKey.matches()) {
                isFound = keys.putIfAbsent(isKey.group(1), isKey.group(2)) == null;
            } else if (isReached.matches()) {
                isFound = reached.putIfAbsent(isReached.group(1), new BigDecimal(isReached.group(2))) == null;
            }
            if (!isFound) {
                throw malformed();
            }
        }
        if (!reached.containsKey(phase)) {
            throw malformed();
        }
        return new BootReport(phase, keys, reached);
    }

    private static UndeterminedException malformed() {
        return new UndeterminedException(
                FILE + ": want a phase, keys and the times of phases, have something else",
                "install agent-vm and agentctl of one release");
    }
}
