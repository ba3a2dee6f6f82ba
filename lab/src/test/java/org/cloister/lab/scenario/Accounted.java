package org.cloister.lab.scenario;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.cloister.lab.local.Cluster;

/**
 * A record of accounting.
 *
 * @param job as squeue names it, such as {@code 12_3}
 * @param state its first word, such as {@code CANCELLED} of {@code CANCELLED by 2001}
 * @param exit code and signal, such as {@code 3:0}
 * @param begun whether accounting was told when
 */
record Accounted(String job, String name, String state, String exit, boolean begun) {
    private static final Pattern BAR = Pattern.compile("\\|");
    private static final int FIELDS = 5;
    private static final Set<String> NEVER = Set.of("None", "Unknown", "");

    /** All records of jobs whose names begin so, also those of a job that had been requeued or whose number came again. */
    static List<Accounted> all(Cluster cluster, String prefix) throws IOException {
        return read(cluster, prefix, "--duplicates");
    }

    /** As a user is answered: of each job the last record. */
    static List<Accounted> last(Cluster cluster, String prefix) throws IOException {
        return read(cluster, prefix, "--allusers");
    }

    boolean isOver() {
        return !List.of("PENDING", "RUNNING", "REQUEUED", "SUSPENDED").contains(state);
    }

    /**
     * Tasks of an array that ended and of whose start accounting was never told: it still calls such a one as it was called
     * with those that waited along with it, {@code 12_[2-3]}. Seen on a plain cluster, too.
     */
    static List<Accounted> untold(Map<String, List<Accounted>> byJob, long array) {
        return byJob.values().stream()
                .flatMap(List::stream)
                .filter(record -> record.job.startsWith(array + "_[") && record.isOver() && !record.begun)
                .toList();
    }

    private static List<Accounted> read(Cluster cluster, String prefix, String option) throws IOException {
        return cluster.root()
                .succeed(
                        "sacct",
                        "-a",
                        "-X",
                        "-n",
                        "-P",
                        option,
                        "-S",
                        "now-2hours",
                        "-o",
                        "JobID,JobName,State,ExitCode,Start")
                .lines()
                .map(line -> BAR.split(line, -1))
                .filter(fields -> fields.length == FIELDS && fields[1].startsWith(prefix))
                .map(fields -> new Accounted(
                        fields[0], fields[1], fields[2].split(" ", 2)[0], fields[3], !NEVER.contains(fields[4])))
                .toList();
    }
}
