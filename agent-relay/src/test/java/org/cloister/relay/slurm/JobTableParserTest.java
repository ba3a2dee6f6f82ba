package org.cloister.relay.slurm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.cloister.slurm.SlurmUnavailableException;
import org.cloister.slurm.TicketJobOptions;
import org.junit.jupiter.api.Test;

/** Slurm's texts as 22.05.8 prints them, and as it never should. */
class JobTableParserTest {
    private static final String TICKET = "abcdefghijklmnopqrstuvwx22";
    private static final String OUTPUT = """
            JobId=10 JobName=abcdefghijklmnopqrstuvwx22
               UserId=root(0) GroupId=root(0) MCS_label=N/A
               NodeList=h[1-3]
               NumNodes=3 NumCPUs=11 NumTasks=3 CPUs/Task=1 ReqB:S:C:T=0:0:*:*
               JOB_GRES=(null)
                 Nodes=h[1-2] CPU_IDs=0-3,8 Mem=100 GRES=
                 Nodes=h3 CPU_IDs=0 Mem=0 GRES=\s
               MinCPUsNode=1 MinMemoryNode=100M MinTmpDiskNode=0
               Comment=abcdefghijklmnopqrstuvwx22\s
            """;

    @Test
    void squeue_lines_become_jobs_and_other_names_are_left_out() throws Exception {
        String text = line("1", "RUNNING", "None", "h[1-2]", TICKET)
                + line("2", "PENDING", "Job's account not permitted to use this partition (secure allows", "", TICKET)
                + line("3", "PENDING", "Priority", "", "something-else")
                + line("4", "PENDING", "Priority", "", "x".repeat(64));
        assertThat(JobTableParser.squeue(text))
                .containsExactly(
                        new JobTableParser.Row(1, TICKET, GlobalJobState.RUNNING, "", "h[1-2]", false),
                        new JobTableParser.Row(
                                2,
                                TICKET,
                                GlobalJobState.PENDING,
                                "Job's account not permitted to use this partition (secure allows",
                                "",
                                false));
    }

    @Test
    void a_list_of_nodes_that_fills_its_column_is_known_to_be_cut() throws Exception {
        String nodes = "n".repeat(JobTableParser.NODES_WIDTH);
        assertThat(JobTableParser.squeue(line("1", "RUNNING", "None", nodes, TICKET)))
                .first()
                .extracting(JobTableParser.Row::cut)
                .isEqualTo(true);
    }

    @Test
    void no_line_that_is_otherwise_is_taken_nor_any_beside_it() {
        String good = line("1", "RUNNING", "None", "h1", TICKET);
        List<String> bad = List.of(
                good.substring(1),
                good.replace("\n", "x\n"),
                good.substring(0, good.length() - 2) + "\n",
                "\n",
                line("0", "RUNNING", "None", "h1", TICKET),
                line("-1", "RUNNING", "None", "h1", TICKET),
                line("1_2", "RUNNING", "None", "h1", TICKET),
                line("99999999999", "RUNNING", "None", "h1", TICKET),
                line("1", "", "None", "h1", TICKET),
                line("1", "Running", "None", "h1", TICKET),
                line("1", "RUNNING", "None", "h1 h2", TICKET),
                line("1", "RUNNING", "None", "--version", TICKET),
                line("1", "RUNNING", "None", "h1;id", TICKET));
        for (String each : bad) {
            assertThatThrownBy(() -> JobTableParser.squeue(good + each))
                    .as(each)
                    .isInstanceOf(SlurmUnavailableException.class);
        }
    }

    /** A pending job of {@code sbatch --requeue=expedite}, Slurm 25.11. */
    @Test
    void a_state_that_is_not_known_is_no_end_and_hides_no_other_job() throws Exception {
        assertThat(JobTableParser.squeue(
                        line("1", "EXPEDITING", "None", "", TICKET) + line("2", "RUNNING", "None", "h1", TICKET)))
                .extracting(JobTableParser.Row::state)
                .containsExactly(GlobalJobState.UNKNOWN, GlobalJobState.RUNNING);
        assertThat(GlobalJobState.UNKNOWN.hasEnded()).isFalse();
        assertThat(JobTableParser.sacct("8|EXPEDITING|h1|None|" + TICKET)).isEmpty();
    }

    @Test
    void sacct_lines_become_ended_jobs() throws Exception {
        String text = """
                4|CANCELLED by 0|None assigned|None|abcdefghijklmnopqrstuvwx22
                8|COMPLETED|h1|Dependency|abcdefghijklmnopqrstuvwx22
                9|RUNNING|h1|None|abcdefghijklmnopqrstuvwx22
                9|COMPLETED|h1|None|a|b
                """;
        assertThat(JobTableParser.sacct(text))
                .containsExactly(
                        new JobTableParser.Row(4, TICKET, GlobalJobState.CANCELLED, "", "", false),
                        new JobTableParser.Row(8, TICKET, GlobalJobState.COMPLETED, "Dependency", "h1", false));
        for (String bad : List.of("8|COMPLETED|h1|None\n", "\n", "8|done|h1|None|" + TICKET)) {
            assertThatThrownBy(() -> JobTableParser.sacct(bad)).isInstanceOf(SlurmUnavailableException.class);
        }
    }

    @Test
    void shares_are_read_from_lines_of_nodes_alone() throws Exception {
        assertThat(NodeAllocationParser.parse(10, OUTPUT).groups())
                .containsExactly(group("h[1-2]", 5, 100), group("h3", 1, 0));
    }

    private static NodeAllocationParser.Group group(String nodes, int cpus, int memoryMib) {
        return new NodeAllocationParser.Group(nodes, OptionalInt.of(cpus), memoryMib);
    }

    /** As scontrol of before 25.05.4 prints more than 127 characters of a node's CPUs: every other one of 128. */
    @Test
    void a_list_of_cpus_that_slurm_has_cut_is_counted_by_what_the_job_has_in_all() throws Exception {
        String whole = IntStream.range(0, 64).mapToObj(i -> "" + 2 * i).collect(Collectors.joining(","));
        for (int cut : List.of(126, 127)) {
            NodeAllocationParser.JobNodes parsed =
                    NodeAllocationParser.parse(10, OUTPUT.replace("0-3,8", whole.substring(0, cut)));
            assertThat(parsed.groups())
                    .extracting(NodeAllocationParser.Group::cpus)
                    .containsExactly(OptionalInt.empty(), OptionalInt.of(1));
            NodeAllocationParser.JobNodes all = new NodeAllocationParser.JobNodes(129, parsed.groups());
            assertThat(all.cpusOfCutGroup(1, 2)).isEqualTo(64);
            assertThatThrownBy(() -> all.cpusOfCutGroup(2, 2)).hasMessageContaining("of 1 kinds of nodes are cut");
            assertThatThrownBy(() -> all.cpusOfCutGroup(129, 2)).isInstanceOf(SlurmUnavailableException.class);
        }
        String cut = whole.substring(0, 127);
        NodeAllocationParser.JobNodes both = NodeAllocationParser.parse(
                10, OUTPUT.replace("0-3,8", cut).replace("CPU_IDs=0 ", "CPU_IDs=" + cut + " "));
        assertThatThrownBy(() -> both.cpusOfCutGroup(0, 1)).hasMessageContaining("of 2 kinds of nodes are cut");
    }

    /** Text of 26.05.5: SubmitLine and Comment have the line feeds of the job's submitter. */
    @Test
    void no_line_of_a_users_text_is_a_node() throws Exception {
        String text = """
                JobId=9 JobName=abcdefghijklmnopqrstuvwx22
                   SLUID=s7K1M8ESGC5T00
                   UserId=root(0) GroupId=root(0) MCS_label=N/A
                   NodeList=n1
                   BatchHost=n1
                   NumNodes=1 NumCPUs=1 NumTasks=1 CPUs/Task=1 ReqB:S:C:T=0:0:*:*
                   AllocTRES=cpu=1,mem=100M,node=1,billing=1
                   Socks/Node=* NtasksPerN:B:S:C=0:0:*:* CoreSpec=*
                   JOB_GRES=(null)
                     Nodes=n1 CPU_IDs=0 Mem=100 GRES=
                   MinCPUsNode=1 MinMemoryNode=100M MinTmpDiskNode=0
                   OverSubscribe=NO Exclusive=NO Contiguous=0 Licenses=(null) LicensesAlloc=(null) Network=(null)
                   Command=/tmp/j.sh
                   SubmitLine=sbatch --parsable --comment=x
                     Nodes=h1 CPU_IDs=0-3 Mem=400 GRES=
                y --mem=100 --chdir=/ -o /dev/null /tmp/j.sh
                   WorkDir=/
                   Comment=x
                     Nodes=h1 CPU_IDs=0-3 Mem=400 GRES=
                y
                   StdOut=/dev/null
                """;
        assertThat(NodeAllocationParser.parse(9, text).groups()).containsExactly(group("n1", 1, 100));
        String cut = text.substring(0, text.indexOf("   MinCPUsNode="));
        assertThatThrownBy(() -> NodeAllocationParser.parse(9, cut)).isInstanceOf(SlurmUnavailableException.class);
    }

    @Test
    void another_jobs_text_or_a_broken_one_says_nothing() {
        assertThatThrownBy(() -> NodeAllocationParser.parse(11, OUTPUT)).isInstanceOf(SlurmUnavailableException.class);
        assertThatThrownBy(() -> NodeAllocationParser.parse(10, OUTPUT.replace("JobName=a", "JobName=A")))
                .isInstanceOf(SlurmUnavailableException.class);
        assertThatThrownBy(() -> NodeAllocationParser.parse(10, "")).isInstanceOf(SlurmUnavailableException.class);
        for (String cpus : List.of("3-1", "1,", "-", "1-2-3")) {
            assertThatThrownBy(() -> NodeAllocationParser.parse(10, OUTPUT.replace("0-3,8", cpus)))
                    .as(cpus)
                    .isInstanceOf(SlurmUnavailableException.class);
        }
    }

    @Test
    void a_submission_is_resources_and_the_tickets_id() {
        GlobalSlurmSettings settings = GlobalSlurmSettings.of("secure");
        JobSubmission what = new JobSubmission(
                "secure",
                TICKET,
                "acct",
                2,
                OptionalInt.of(3),
                4,
                OptionalInt.of(2),
                0,
                true,
                Duration.ofMinutes(90),
                List.of("big", "ib"));
        assertThat(BatchJob.arguments(what))
                .contains("--job-name=" + TICKET, "--comment=" + TICKET, "--account=acct", "--partition=secure")
                .contains("--nodes=2", "--ntasks=3", "--cpus-per-task=4", "--ntasks-per-node=2", "--mem=0")
                .contains("--exclusive", "--time=90", "--constraint=big&ib", "--dependency=singleton")
                .contains("--no-requeue", "--export=NONE", "--propagate=NONE", "--chdir=/")
                .allMatch(word -> word.startsWith("--"));
        assertThat(names(BatchJob.arguments(what)))
                .containsExactlyElementsOf(
                        names(TicketJobOptions.SBATCH.subList(0, TicketJobOptions.SBATCH.size() - 1)));
        assertThat(names(Stream.of(BatchJob.script(what, settings).split("\\s+", -1))
                        .filter(word -> word.startsWith("--"))
                        .toList()))
                .containsExactlyElementsOf(names(TicketJobOptions.SRUN.subList(0, TicketJobOptions.SRUN.size() - 1)));
        assertThat(BatchJob.script(what, settings))
                .isEqualTo(
                        "#!/bin/sh\nunset SLURM_CPUS_PER_TASK SLURM_TRES_PER_TASK\nexec srun --nodes=2 --ntasks=2 --ntasks-per-node=1 --mem=0"
                                + " --kill-on-bad-exit=1 /usr/bin/agentctl host run " + TICKET + "\n");
    }

    private static List<String> names(List<String> options) {
        return options.stream().map(option -> option.replaceFirst("=.*", "")).toList();
    }

    @Test
    void what_would_be_an_option_or_a_shell_line_is_no_submission() {
        for (String account : List.of("a b", "", "a;b", "a\n", "x".repeat(65))) {
            assertThatThrownBy(() -> submission(account, 1, 1)).isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> submission("a", 0, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> submission("a", 4097, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> submission("a", 1, 0)).isInstanceOf(IllegalArgumentException.class);
    }

    private static JobSubmission submission(String account, int nodes, int memory) {
        return new JobSubmission(
                "secure",
                TICKET,
                account,
                nodes,
                OptionalInt.empty(),
                1,
                OptionalInt.empty(),
                memory,
                false,
                Duration.ofMinutes(1),
                List.of());
    }

    private static String line(String id, String state, String reason, String nodes, String name) {
        return "%-24s|%-32s|%-64s|%-256s|%-64s|\n".formatted(id, state, reason, nodes, name);
    }
}
