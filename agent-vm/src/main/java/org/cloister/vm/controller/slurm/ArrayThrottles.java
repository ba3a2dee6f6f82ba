package org.cloister.vm.controller.slurm;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.slurm.FixedWidthRow;
import org.cloister.slurm.SlurmCommand;
import org.cloister.slurm.SlurmUnavailableException;

/**
 * Reads how many tasks of an array may run at once. squeue reports it for tasks that are not split off, {@code
 * 12_[3-9%2]}; on 26.05 only until one is split off. For other arrays scontrol reports it in its first line, before
 * anything that a user writes; of these each is asked about once, and one of them again at each reading.
 */
final class ArrayThrottles {
    private static final int WIDTH = 128;
    private static final int MAX_ARRAYS = 100_000;
    private static final Pattern WAITING = Pattern.compile("([1-9][0-9]{0,9})_\\[[0-9,:.-]*(?:%([0-9]{1,10}))?\\]");
    private static final Pattern DISPLAYED =
            Pattern.compile("JobId=[0-9]{1,10} ArrayJobId=([0-9]{1,10}) ArrayTaskId=[^ ]{1,200}"
                    + "(?: ArrayTaskThrottle=([0-9]{1,10}))? .*");

    private final SlurmCommand slurm;
    /** Answers of scontrol, in the order of the questions. */
    private final Map<Long, Integer> displayed = new LinkedHashMap<>();

    ArrayThrottles(SlurmCommand slurm) {
        this.slurm = slurm;
    }

    /**
     * Returns the throttles of arrays by job number; 0 if all tasks may run at once.
     *
     * @param arrays with pending tasks; others are forgotten
     */
    Map<Long, Integer> of(Set<Long> arrays) throws SlurmUnavailableException {
        displayed.keySet().retainAll(arrays);
        if (arrays.isEmpty()) {
            return Map.of();
        }
        Map<Long, Integer> throttles =
                waiting(slurm.succeed("squeue", List.of("-h", "-t", "PD", "-O", "JobArrayID:" + WIDTH + "|")));
        throttles.keySet().retainAll(arrays);
        displayed.keySet().removeAll(throttles.keySet());
        // It may have been changed since.
        Optional<Long> oldest = displayed.keySet().stream().findFirst();
        oldest.ifPresent(displayed::remove);
        for (long array : arrays) {
            if (!throttles.containsKey(array) && !displayed.containsKey(array)) {
                SlurmCommand.Output output = slurm.run("scontrol", List.of("show", "job", Long.toString(array)), "");
                displayed.put(array, output.exit() == 0 ? shown(array, output.out()) : 0);
            }
        }
        throttles.putAll(displayed);
        return Map.copyOf(throttles);
    }

    /** Returns the throttles that squeue shows. */
    static Map<Long, Integer> waiting(String text) throws SlurmUnavailableException {
        Map<Long, Integer> throttles = new HashMap<>();
        for (FixedWidthRow columns : FixedWidthRow.of("squeue", text, MAX_ARRAYS)) {
            Matcher array = WAITING.matcher(columns.next(WIDTH));
            columns.requireEnd();
            if (array.matches() && array.group(2) != null) {
                throttles.put(Long.parseLong(array.group(1)), count(array.group(2)));
            }
        }
        return throttles;
    }

    static int shown(long array, String text) {
        Matcher first = DISPLAYED.matcher(text.lines().findFirst().orElse(""));
        return first.matches() && Long.parseLong(first.group(1)) == array ? count(first.group(2)) : 0;
    }

    private static int count(String text) {
        return text == null ? 0 : (int) Math.min(Long.parseLong(text), Integer.MAX_VALUE);
    }
}
