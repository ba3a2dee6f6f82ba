package org.cloister.vm.controller.slurm;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.cloister.slurm.FixedWidthRow;
import org.cloister.slurm.HostlistExpander;
import org.cloister.slurm.SlurmUnavailableException;

/** Reads sinfo's columns, one line for each node ({@code -N}). */
final class SinfoOutput {
    private static final int NAME_WIDTH = 64;
    private static final int STATE_WIDTH = 20;
    private static final int NUMBER_WIDTH = 12;
    private static final int FEATURES_WIDTH = 64;
    private static final int MAX_NODES = 20_000;

    static final String FORMAT = "NodeList:" + NAME_WIDTH + "|,StateLong:" + STATE_WIDTH + "|,CPUs:" + NUMBER_WIDTH
            + "|,Memory:" + NUMBER_WIDTH + "|,Features:" + FEATURES_WIDTH + "|";

    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,10}");

    private SinfoOutput() {}

    /** Reads all nodes except the placeholder nodes. */
    static List<LocalSlurmNode> read(String text) throws SlurmUnavailableException {
        List<LocalSlurmNode> nodes = new ArrayList<>();
        for (FixedWidthRow columns : FixedWidthRow.of("sinfo", text, MAX_NODES)) {
            String name = columns.next(NAME_WIDTH);
            String state = columns.next(STATE_WIDTH);
            String cpus = columns.next(NUMBER_WIDTH);
            String memory = columns.next(NUMBER_WIDTH);
            String features = columns.next(FEATURES_WIDTH);
            columns.requireEnd();
            if (name.startsWith(LocalSlurm.PLACEHOLDER_PREFIX)) {
                continue;
            }
            if (!HostlistExpander.NODE.matcher(name).matches()
                    || !NUMBER.matcher(cpus).matches()
                    || !NUMBER.matcher(memory).matches()) {
                throw columns.strange();
            }
            long count = Long.parseLong(cpus);
            nodes.add(new LocalSlurmNode(
                    name,
                    features.equals("(null)") ? "" : features,
                    state(state),
                    (int) Math.min(count, Integer.MAX_VALUE),
                    Long.parseLong(memory)));
        }
        return nodes;
    }

    /**
     * Maps a state. Marks may follow it, such as {@code *} for a node that does not respond; such a node counts only if
     * it has a job. A planned node is idle, and backfill intends a job for it. A node in an unknown state accepts no
     * job.
     */
    private static LocalSlurmNode.State state(String text) {
        return switch (text) {
            case "idle", "planned" -> LocalSlurmNode.State.IDLE;
            case "allocated", "allocated*", "mixed", "mixed*", "completing", "completing*" -> LocalSlurmNode.State.BUSY;
            case "draining", "draining*" -> LocalSlurmNode.State.DRAINING;
            default -> LocalSlurmNode.State.UNAVAILABLE;
        };
    }
}
