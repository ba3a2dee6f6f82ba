package org.cloister.preflight;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/** Checks the three cgroup controllers through which Slurm's limits bind a VM; either version of cgroups suffices. */
record CgroupCheck() implements PreflightCheck {
    private static final List<String> NEEDED = List.of("cpu", "cpuset", "memory");
    private static final String REMEDY = "add cgroup_enable=memory to the kernel's command line";

    @Override
    public String name() {
        return "cgroup";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        Optional<String> unified = machine.read("/sys/fs/cgroup/cgroup.controllers");
        String version = unified.isPresent() ? "v2" : "v1";
        TreeSet<String> have = new TreeSet<>(
                unified.isPresent() ? List.of(unified.get().strip().split("\\s+", -1)) : mountedV1(machine));
        List<String> missing =
                NEEDED.stream().filter(controller -> !have.contains(controller)).toList();
        return missing.isEmpty()
                ? PreflightFinding.ok(this, version + ", controllers " + String.join(" ", have))
                : PreflightFinding.failure(this, version + " without controllers " + String.join(" ", missing), REMEDY);
    }

    private static List<String> mountedV1(InspectedMachine machine) throws UndeterminedException {
        return machine.read("/proc/mounts").stream()
                .flatMap(String::lines)
                .map(line -> line.split(" ", -1))
                .filter(fields -> fields.length > 3 && fields[2].equals("cgroup"))
                .flatMap(fields -> Arrays.stream(fields[3].split(",", -1)))
                .filter(option -> !option.contains("=") && !option.equals("rw") && !option.equals("ro"))
                .filter(option -> !option.equals("relatime") && !option.startsWith("no"))
                .toList();
    }
}
