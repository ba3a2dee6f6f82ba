package org.cloister.preflight;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/** Checks that guests' memory cannot reach a disk in the clear. Swap on dm-crypt or in RAM (zram) does no harm. */
record SwapCheck() implements PreflightCheck {
    @Override
    public String name() {
        return "swap";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        Optional<String> swaps = machine.read("/proc/swaps");
        if (swaps.isEmpty()) {
            return PreflightFinding.ok(this, "this kernel has no swap");
        }
        List<String> areas = swaps.get()
                .lines()
                .skip(1)
                .filter(line -> !line.isBlank())
                .map(line -> line.split("\\s+", 2)[0])
                .toList();
        List<String> clear = new ArrayList<>();
        for (String area : areas) {
            if (!isProtected(machine, area)) {
                clear.add(area);
            }
        }
        if (!clear.isEmpty()) {
            String names = String.join(" ", clear);
            return PreflightFinding.failure(
                    this, "unencrypted swap: " + names, "swapoff " + names + ", and its line in /etc/fstab");
        }
        return PreflightFinding.ok(this, areas.isEmpty() ? "none" : "encrypted or in RAM: " + String.join(" ", areas));
    }

    private static boolean isProtected(InspectedMachine machine, String area) throws UndeterminedException {
        String device = area.startsWith("/dev/") ? area.substring("/dev/".length()) : "";
        if (device.matches("zram[0-9]+")) {
            return true;
        }
        return device.matches("dm-[0-9]+")
                && machine.read("/sys/block/" + device + "/dm/uuid")
                        .filter(uuid -> uuid.startsWith("CRYPT-"))
                        .isPresent();
    }
}
