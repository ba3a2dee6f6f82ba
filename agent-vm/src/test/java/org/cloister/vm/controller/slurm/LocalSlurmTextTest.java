package org.cloister.vm.controller.slurm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.cloister.slurm.SlurmUnavailableException;
import org.cloister.vm.controller.config.HostShape;
import org.junit.jupiter.api.Test;

/** Slurm's texts as 22.05.8 prints them, which are the fuzz target's seeds too, and as it never should. */
class LocalSlurmTextTest {
    @Test
    void lines_of_squeue_become_jobs() throws IOException {
        List<SqueueOutput.Row> rows = SqueueOutput.read(seed("jobs"), ExclusiveColumn.OVERSUBSCRIBE, state -> {});
        assertThat(rows).extracting(row -> row.job().id().text()).containsExactly("12", "13_4", "14+1");
        LocalSlurmJob waiting = rows.get(0).job();
        assertThat(waiting.reason()).isEqualTo("ReqNodeNotAvail");
        assertThat(waiting.requirements().memoryMib()).isEqualTo(1536);
        assertThat(waiting.requirements().memoryPerCpu()).isFalse();
        assertThat(waiting.requirements().minNodes()).isEqualTo(3);
        assertThat(waiting.requirements().timeLimit()).isEmpty();
        assertThat(rows.get(1).job().arrayJobId()).isEqualTo(13);
        assertThat(rows.get(1).job().requirements().timeLimit()).hasValue(Duration.ofHours(26));
        assertThat(rows.get(2).job().hetJobId()).isEqualTo(14);
        assertThat(rows.get(2).job().state()).isEqualTo(LocalSlurmJobState.RUNNING);
        assertThat(rows.get(2).nodes()).isEqualTo("vm-abcdefgh-0");
        assertThat(rows.get(2).job().requirements().maxNodes()).isEqualTo(1);
    }

    @Test
    void a_line_that_is_otherwise_has_none_taken() throws IOException {
        String good = seed("jobs");
        for (String bad : List.of(
                good + "\n",
                good.replace("|2001 ", "|-001 "),
                good.replace("PENDING  ", "What ever"),
                good.replaceFirst("\\|", " "),
                good.replaceFirst("12 ", "x2 "),
                good.replace("vm-abcdefgh-0 ", "vm-abcd;gh-0 "))) {
            assertThatThrownBy(() -> SqueueOutput.read(bad, ExclusiveColumn.OVERSUBSCRIBE, state -> {}))
                    .as(bad)
                    .isInstanceOf(SlurmUnavailableException.class);
        }
    }

    /** A pending job of {@code sbatch --requeue=expedite}, Slurm 25.11. */
    @Test
    void a_state_that_is_not_known_hides_no_other_job() throws IOException {
        List<String> unknown = new ArrayList<>();
        String text = seed("jobs").replaceFirst("PENDING   ", "EXPEDITING");
        assertThat(SqueueOutput.read(text, ExclusiveColumn.OVERSUBSCRIBE, unknown::add))
                .extracting(row -> row.job().state())
                .containsExactly(LocalSlurmJobState.UNKNOWN, LocalSlurmJobState.PENDING, LocalSlurmJobState.RUNNING);
        assertThat(unknown).containsExactly("EXPEDITING");
    }

    @Test
    void lines_of_sinfo_become_nodes_without_the_block() throws IOException {
        assertThat(SinfoOutput.read(seed("nodes")))
                .containsExactly(new LocalSlurmNode("vm-abcdefgh-0", "tabc", LocalSlurmNode.State.IDLE, 2, 2000));
    }

    @Test
    void throttles_are_read_from_what_waits_or_from_the_first_line() throws IOException {
        assertThat(ArrayThrottles.waiting(seed("waiting"))).isEqualTo(Map.of(12L, 2));
        assertThat(ArrayThrottles.shown(12, seed("shown"))).isEqualTo(2);
        assertThat(ArrayThrottles.shown(13, seed("shown"))).isZero();
        assertThat(ArrayThrottles.shown(12, "JobId=1 JobName=x\n" + seed("shown")))
                .isZero();
    }

    @Test
    void the_block_has_a_node_for_each_host_and_the_largest_of_each_and_workers_stand_nowhere() {
        String text = new LocalSlurmConf(
                        "local",
                        "head",
                        "10.90.0.1",
                        Path.of("/var/spool/slurmctld"),
                        Path.of("/usr/lib/cloister/slurm"),
                        Path.of("/run/cloister/bell"),
                        Optional.of("127.0.0.1"),
                        List.of(new HostShape(4, 2, 9000, 10), new HostShape(1, 8, 2000, 4000)),
                        1024,
                        Duration.ofDays(366))
                .text();
        assertThat(text.lines().filter(line -> line.startsWith("NodeName=")))
                .containsExactly("NodeName=waiting-for-vm-[0001-0005] CPUs=8 RealMemory=9000 TmpDisk=4000"
                        + " Feature=unplaced State=DOWN Reason=waiting NodeAddr=127.0.0.1 Port=9");
        assertThat(text.lines())
                .contains("SlurmdTimeout=0", "SlurmctldTimeout=60", "ReturnToService=0")
                .contains("CommunicationParameters=disable_http");
        assertThat(text).doesNotContain("=\n");
        // Root of a worker may have slurmctld start a program; so it has an account of its own, and needs
        // none itself.
        assertThat(text.lines())
                .contains("SlurmUser=slurm", "JobCompType=jobcomp/filetxt", "JobCompLoc=/run/cloister/bell")
                .noneMatch(line -> line.matches("(Epilog|Prolog)Slurmctld=.*|SlurmctldPidFile=/run/[^/]*"));
        assertThatThrownBy(() -> new LocalSlurmConf(
                        "local",
                        "head\nSlurmUser=alice",
                        "10.90.0.1",
                        Path.of("/s"),
                        Path.of("/h"),
                        Path.of("/b"),
                        Optional.empty(),
                        List.of(new HostShape(1, 1, 1, 0)),
                        1,
                        Duration.ofDays(1)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static String seed(String name) throws IOException {
        try (InputStream in = LocalSlurmTextTest.class.getResourceAsStream(
                "LocalSlurmFuzzInputs/reads_jobs_nodes_and_throttles/" + name)) {
            if (in == null) {
                throw new IOException("no seed " + name);
            }
            return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1).substring(1);
        }
    }
}
