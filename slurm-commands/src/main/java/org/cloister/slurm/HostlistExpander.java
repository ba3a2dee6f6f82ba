package org.cloister.slurm;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Expands Slurm's hostlists, {@code h[1-4,7]}, with Slurm itself, and caches the results. */
public final class HostlistExpander {
    public static final Pattern NODE = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}");

    private static final Pattern FOLDED = Pattern.compile("[A-Za-z0-9_.\\[\\],-]{1,100000}");
    private static final int MAX_NODES = 4096;
    private static final int REMEMBERED = 1024;

    private final SlurmCommand slurm;
    private final Map<String, List<String>> known = new LinkedHashMap<>();

    public HostlistExpander(SlurmCommand slurm) {
        this.slurm = slurm;
    }

    public static String requireFolded(String nodes) throws SlurmUnavailableException {
        if (!FOLDED.matcher(nodes).matches() || nodes.startsWith("-")) {
            throw new SlurmUnavailableException("nodes: want a list such as h[1-4], have " + nodes);
        }
        return nodes;
    }

    public synchronized List<String> expand(String folded) throws SlurmUnavailableException {
        if (folded.isEmpty()) {
            return List.of();
        }
        if (NODE.matcher(folded).matches()) {
            return List.of(folded);
        }
        List<String> names = known.get(folded);
        if (names == null) {
            names = run(folded);
            if (known.size() >= REMEMBERED) {
                known.clear();
            }
            known.put(folded, names);
        }
        return names;
    }

    private List<String> run(String folded) throws SlurmUnavailableException {
        List<String> names = slurm.succeed("scontrol", List.of("show", "hostnames", requireFolded(folded)))
                .lines()
                .toList();
        if (names.isEmpty()
                || names.size() > MAX_NODES
                || !names.stream().allMatch(name -> NODE.matcher(name).matches())) {
            throw new SlurmUnavailableException("scontrol show hostnames: want 1 to " + MAX_NODES + " names for "
                    + folded + ", have " + names.size());
        }
        return names;
    }
}
