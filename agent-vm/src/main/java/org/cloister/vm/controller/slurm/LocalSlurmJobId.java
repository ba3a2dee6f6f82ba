package org.cloister.vm.controller.slurm;

import java.util.regex.Pattern;

/**
 * A job's id in Slurm's commands: {@code 12}, a task of an array {@code 12_3}, a component of a heterogeneous job
 * {@code 12+1}. A task keeps its id when Slurm splits it off.
 */
public record LocalSlurmJobId(String text) {
    private static final Pattern FORM = Pattern.compile("[1-9][0-9]{0,9}([_+](0|[1-9][0-9]{0,6}))?");

    public LocalSlurmJobId {
        if (!FORM.matcher(text).matches()) {
            throw new IllegalArgumentException("job: want a number such as 12, 12_3 or 12+1, have " + text);
        }
    }

    @Override
    public String toString() {
        return text;
    }
}
