package org.cloister.lab;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The release of each machine of a lab. */
public record LabReleases(Map<String, LabRelease> byMachine) {
    public LabReleases {
        byMachine = Map.copyOf(byMachine);
    }

    /**
     * Parses the value of {@code --release}.
     *
     * @param text one release for all machines, or {@code MACHINE=RELEASE,...}; a machine without one, or all if it is
     *     empty, have the real machine's
     * @param machines names of the lab's machines
     */
    public static LabReleases parse(String text, List<String> machines, LabHome home) throws IOException {
        Map<String, LabRelease> releases = new TreeMap<>();
        LabRelease others = text.isEmpty() || text.contains("=") ? LabRelease.own() : LabRelease.of(home, text);
        machines.forEach(machine -> releases.put(machine, others));
        if (text.contains("=")) {
            for (String word : text.split(",", -1)) {
                String[] pair = word.split("=", -1);
                if (pair.length != 2 || !releases.containsKey(pair[0])) {
                    throw new LabException(
                            "release \"" + word + "\": want MACHINE=RELEASE with a machine of " + machines,
                            "such as --release site=sid,h1=trixie,h2=sid");
                }
                releases.put(pair[0], LabRelease.of(home, pair[1]));
            }
        }
        return new LabReleases(releases);
    }

    public LabRelease of(String machine) {
        LabRelease release = byMachine.get(machine);
        if (release == null) {
            throw new IllegalArgumentException("machine: no " + machine + " in " + byMachine.keySet());
        }
        return release;
    }

    @Override
    public String toString() {
        return new TreeMap<>(byMachine)
                .entrySet().stream()
                        .map(each -> each.getKey() + "=" + each.getValue())
                        .collect(Collectors.joining(","));
    }
}
