package org.cloister.lab.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Timeline of a job, from its submission until nothing was left of its nodes. */
record JobTimeline(List<Bar> bars) {
    private static final Pattern PHASE = Pattern.compile("([a-z]+)=([0-9]+\\.[0-9]+)");
    private static final String TEARDOWN = "teardown";
    static final String JOB = "the job";
    private static final int WIDTH = 60;

    /** @param from seconds after the submission */
    record Bar(String name, double from, double seconds) {
        double to() {
            return from + seconds;
        }
    }

    JobTimeline {
        bars = List.copyOf(bars);
    }

    /**
     * @param phases the job's AdminComment, docs/slurm.md
     * @param startedMs seconds from the submission to the script's start, as Slurm reports them: whole ones
     * @param ended the same to its end
     */
    static JobTimeline of(String phases, long startedMs, long ended) {
        List<Bar> bars = new ArrayList<>();
        double at = 0;
        double teardown = 0;
        Matcher phase = PHASE.matcher(phases);
        while (phase.find()) {
            double seconds = Double.parseDouble(phase.group(2));
            if (phase.group(1).equals(TEARDOWN)) {
                teardown = seconds;
            } else {
                bars.add(new Bar(phase.group(1), at, seconds));
                at += seconds;
            }
        }
        double start = Math.max(at, (double) startedMs);
        bars.add(new Bar("start", at, start - at));
        double end = Math.max(start, (double) ended);
        bars.add(new Bar(JOB, start, end - start));
        bars.add(new Bar(TEARDOWN, end, teardown));
        return new JobTimeline(bars);
    }

    double durationSeconds() {
        return bars.get(bars.size() - 1).to();
    }

    /** Returns lines for a terminal. */
    List<String> lines() {
        return bars.stream().map(this::line).toList();
    }

    private String line(Bar bar) {
        int from = column(bar.from());
        int length = Math.max(1, column(bar.to()) - from);
        return String.format(
                Locale.ROOT, "%-12s %7.1f s  %s%s", bar.name(), bar.seconds(), " ".repeat(from), "#".repeat(length));
    }

    private int column(double seconds) {
        return (int) Math.round(seconds / Math.max(durationSeconds(), 1) * WIDTH);
    }
}
