package org.cloister.lab.scenario;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.IntStream;

/** A job of {@link ChaosTest}: how it is submitted, and how it is to end. */
record ChaosJob(Kind kind, int number, int millis) {
    private static final int MAX_MS = 4_000;
    private static final int TASKS = 3;
    private static final int FAILING_TASK = 2;

    /** Kind of a job, and how many of 20 jobs are of it. */
    enum Kind {
        ENDS(7, ""),
        FAILS(3, ""),
        ARRAY(3, "--array=1-" + TASKS),
        PAIR(3, "--nodes=2 --ntasks-per-node=1"),
        CANCELLED(2, ""),
        REQUEUED(2, "--requeue");

        private final int share;
        private final String options;

        Kind(int share, String options) {
            this.share = share;
            this.options = options;
        }
    }

    /**
     * Expected end of one task of a job, or of all of it.
     *
     * @param task after the job's number, as in {@code _3}; empty if it has none
     */
    record ExpectedEnd(String task, String key, String state, String exit, List<String> output) {}

    /** Of each kind as many as its share. */
    static List<ChaosJob> draw(int many, Random random) {
        List<Kind> kinds = new ArrayList<>();
        for (Kind kind : Kind.values()) {
            IntStream.range(0, kind.share).forEach(each -> kinds.add(kind));
        }
        return IntStream.range(0, many)
                .mapToObj(number -> new ChaosJob(
                        kinds.get((number + random.nextInt(kinds.size())) % kinds.size()),
                        number,
                        random.nextInt(MAX_MS)))
                .toList();
    }

    /** In shell. */
    String submission(String name) {
        return String.format(
                Locale.ROOT,
                "sbatch --parsable --job-name=%s-%d --mem-per-cpu=100 --time=10 --output=out-%d%s --error=/dev/null %s"
                        + " job.sh %s %d %.3f",
                name,
                number,
                number,
                kind == Kind.ARRAY ? ".%a" : "",
                kind.options,
                kind,
                number,
                millis / 1e3);
    }

    /** Runs that it has by itself. */
    int runs() {
        return kind == Kind.REQUEUED ? 2 : 1;
    }

    List<ExpectedEnd> endings() {
        String key = Integer.toString(number);
        return switch (kind) {
            case ENDS, REQUEUED -> List.of(new ExpectedEnd("", key, "COMPLETED", "0:0", List.of("result " + key)));
            case FAILS -> List.of(new ExpectedEnd("", key, "FAILED", "3:0", List.of("result " + key)));
            case CANCELLED -> List.of(new ExpectedEnd("", key, "CANCELLED", "0:0", List.of()));
            case PAIR ->
                List.of(new ExpectedEnd("", key, "COMPLETED", "0:0", List.of("result " + key, "step 0", "step 1")));
            case ARRAY -> IntStream.rangeClosed(1, TASKS).mapToObj(this::task).toList();
        };
    }

    private ExpectedEnd task(int task) {
        boolean fails = task == FAILING_TASK;
        String key = number + "." + task;
        return new ExpectedEnd(
                "_" + task, key, fails ? "FAILED" : "COMPLETED", fails ? "3:0" : "0:0", List.of("result " + key));
    }
}
