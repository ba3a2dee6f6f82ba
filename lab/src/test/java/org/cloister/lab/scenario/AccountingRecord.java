package org.cloister.lab.scenario;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.cloister.lab.localslurm.LabCluster;

/**
 * A record of accounting.
 *
 * @param job as squeue names it, such as {@code 12_3}
 * @param state its first word, such as {@code CANCELLED} of {@code CANCELLED by 2001}
 * @param exit code and signal, such as {@code 3:0}
 * @param submittedMs since the epoch, in whole seconds; of a job that was requeued, when that was
 * @param hasStarted whether accounting was told when
 */
record AccountingRecord(String job, String name, String state, String exit, long submittedMs, boolean hasStarted) {
    private static final Pattern BAR = Pattern.compile("\\|");
    private static final int FIELDS = 6;
    private static final Set<String> NEVER = Set.of("None", "Unknown", "");

    boolean isOver() {
        return !List.of("PENDING", "RUNNING", "REQUEUED", "SUSPENDED").contains(state);
    }

    /**
     * The task of an array that ended and of whose start accounting was never told: it still calls it as it was called
     * with those that waited along with it, {@code 12_[2-3]}. Seen on a plain cluster, too.
     */
    static Optional<AccountingRecord> untold(Collection<AccountingRecord> records, long array) {
        return records.stream()
                .filter(record -> record.job.startsWith(array + "_[") && record.isOver() && !record.hasStarted)
                .findFirst();
    }

    /** All records of jobs whose names begin so, also those of a job that had been requeued or whose number came again. */
    static List<AccountingRecord> all(LabCluster cluster, String prefix) throws IOException {
        return cluster.root()
                .succeed(
                        "env",
                        "SLURM_TIME_FORMAT=%s",
                        "sacct",
                        "-a",
                        "-X",
                        "-n",
                        "-P",
                        "--duplicates",
                        "-S",
                        "now-2hours",
                        "-o",
                        "JobID,JobName,State,ExitCode,Submit,Start")
                .lines()
                .map(line -> BAR.split(line, -1))
                .filter(fields -> fields.length == FIELDS && fields[1].startsWith(prefix))
                .map(fields -> new AccountingRecord(
                        fields[0],
                        fields[1],
                        fields[2].split(" ", 2)[0],
                        fields[3],
                        TimeUnit.SECONDS.toMillis(Long.parseLong(fields[4])),
                        !NEVER.contains(fields[5])))
                .toList();
    }
}
