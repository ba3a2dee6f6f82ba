package org.cloister.vm.controller.jobsubmit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.cloister.vm.controller.config.HostShape;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests jobs that the script accepts, and its changes to them; {@link RefusalsDocumentTest} has those that it refuses.
 */
class SubmitScriptTest {
    @TempDir
    Path folder;

    private StagedSubmitScript script;

    @BeforeEach
    void deploy() throws IOException {
        SubmitPluginData example = StagedSubmitScript.EXAMPLE;
        script = new StagedSubmitScript(
                folder,
                new SubmitPluginData(example.release(), example.notifyFile(), example.features(), example.shapes(), 1));
    }

    @Test
    void a_job_waits_by_the_feature_that_no_node_up_has() throws IOException {
        assertThat(taken("")).isEqualTo("0 unplaced v=1 features=-");
    }

    @Test
    void features_are_kept_as_their_places_ascending_and_once() throws IOException {
        assertThat(taken("features = 'big'")).isEqualTo("0 unplaced v=1 features=1");
        assertThat(taken("features = 'big&fast&big'")).isEqualTo("0 unplaced v=1 features=0,1");
        assertThat(taken("features = ''")).isEqualTo("0 unplaced v=1 features=-");
    }

    @Test
    void no_sign_but_the_ampersand_joins_features() throws IOException {
        for (String each : List.of(
                "fast,big",
                "fast|big",
                "[fast&big]",
                "fast*2",
                "!fast",
                "(fast)",
                "fast&",
                "&fast",
                "fast&&big",
                "fast ",
                "fast\\n",
                "fast\\0big",
                "tabcdefghijklmnopqrstuvwxyz",
                "unplaced",
                "waiting")) {
            assertThat(code("submitted", "features = '" + each + "'")).as(each).isEqualTo("2029");
        }
    }

    /** As slurmctld 24.11 and 26.05 fill it; the refusals' page has those of 22.05. */
    @Test
    void cpus_in_the_field_of_a_tasks_resources_are_no_gpus() throws IOException {
        assertThat(taken("cpus_per_task = 2, min_cpus = 2, tres_per_task = 'cpu=2'"))
                .isEqualTo(taken("cpus_per_task = 2, min_cpus = 2"));
        assertThat(code("submitted", "cpus_per_task = 65, min_cpus = 65, tres_per_task = 'cpu=65'"))
                .isEqualTo("2014");
        for (String each : List.of("cpu=3,gres/gpu=1", "gres/gpu=1", "gres/gpu=1,cpu=3", "gres/gpu=1,cpux=3")) {
            assertThat(script.run("print(submitted({tres_per_task = '" + each + "'}))"))
                    .as(each)
                    .startsWith("2072\t--gpus-per-task=gpu=1");
        }
    }

    /** As slurmctld 22.05, 24.11 and 26.05 fill it for salloc and srun, and for sbatch. */
    @Test
    void a_job_without_a_script_or_with_a_flag_alone_is_not_external() throws IOException {
        for (String each : List.of("script = false, bitflags = 503332864", "bitflags = 520093696")) {
            assertThat(code("submitted", each)).as(each).isEqualTo("0");
        }
        assertThat(code("submitted", "script = false, bitflags = 520093696")).isEqualTo("2036");
    }

    @Test
    void what_a_user_wrote_is_shown_short_and_printable() throws IOException {
        String text = script.run("print(select(2, submitted({req_nodes = 'h\\n\\27[31m' .. string.rep('x', 2000)})))");
        assertThat(text)
                .startsWith("--nodelist=h??[31mxxx")
                .contains("xxx...: a job's nodes")
                .hasSizeLessThan(200);
    }

    @Test
    void a_percent_sign_is_no_format() throws IOException {
        assertThat(script.run("print(select(2, submitted({req_nodes = '%s%n%d'})))"))
                .startsWith("--nodelist=%s%n%d: ");
    }

    @Test
    void shapes_that_some_host_has_are_taken() throws IOException {
        for (String each : List.of(
                "cpus_per_task = 64, min_cpus = 64",
                "num_tasks = 144, min_cpus = 144",
                "min_nodes = 3, max_nodes = 3, num_tasks = 3, min_cpus = 3",
                "min_nodes = 2, max_nodes = 9, num_tasks = 144, min_cpus = 144",
                "min_mem_per_node = 256000",
                "min_mem_per_node = 0",
                "min_mem_per_node = 128000, pn_min_cpus = 64",
                "min_mem_per_cpu = 8000, num_tasks = 48, min_cpus = 48",
                "pn_min_tmp_disk = 100000",
                "contiguous = 65534, req_switch = 0, batch_features = ''",
                // --ntasks-per-node is a bound where --ntasks is given
                "num_tasks = 4, ntasks_per_node = 200, min_cpus = 4",
                // --overcommit: tasks share CPUs
                "num_tasks = 500, min_cpus = 1",
                "num_tasks = 100, ntasks_per_node = 100, min_nodes = 1, max_nodes = 1, min_cpus = 1")) {
            assertThat(taken(each)).as(each).startsWith("0 unplaced ");
        }
    }

    @Test
    void memory_of_each_cpu_bounds_the_cpus_that_count() throws IOException {
        // 8000 MiB each are there for 16 of the 64 CPUs of two hosts, and for all 16 of the other: 48.
        assertThat(taken("min_mem_per_cpu = 8000, num_tasks = 48, min_cpus = 48"))
                .startsWith("0 ");
        assertThat(code("submitted", "min_mem_per_cpu = 8000, num_tasks = 49, min_cpus = 49"))
                .isEqualTo("2014");
    }

    /** The example's default: 2048 MiB for each CPU. */
    @Test
    void a_job_that_says_no_memory_asks_for_the_clusters_default() throws IOException {
        script = new StagedSubmitScript(folder, StagedSubmitScript.EXAMPLE);
        assertThat(code("submitted", "cpus_per_task = 62, min_cpus = 62")).isEqualTo("0");
        assertThat(script.run("print(submitted({cpus_per_task = 63, min_cpus = 63}))"))
                .startsWith(
                        "2014\t63 CPUs, 129024 MiB of memory (2048 MiB a CPU, as the job says none) and 0 MiB of disk on a"
                                + " node: no host of the site has all of it; ask for less of one");
        for (String text : List.of("min_mem_per_cpu = 2000", "min_mem_per_node = 128000", "min_mem_per_node = 0")) {
            assertThat(code("submitted", "cpus_per_task = 64, min_cpus = 64, " + text))
                    .as(text)
                    .isEqualTo("0");
        }
        // 62 on each of two hosts, and 16.
        assertThat(code("submitted", "num_tasks = 140, min_cpus = 140")).isEqualTo("0");
        assertThat(script.run("print(submitted({num_tasks = 141, min_cpus = 141}))"))
                .contains("hold 140 for such tasks (2048 MiB a CPU, as the job says none); ");
    }

    @Test
    void a_change_that_says_no_memory_leaves_what_the_job_has() throws IOException {
        String grown = "print((changed({pn_min_cpus = 64}, 1000, {%s})))";
        assertThat(script.run(grown.formatted("min_mem_per_cpu = 2000"))).isEqualTo("0");
        assertThat(script.run(grown.formatted("min_mem_per_cpu = 2001"))).isEqualTo("2014");
        assertThat(script.run(grown.formatted("min_mem_per_node = 128000"))).isEqualTo("0");
        assertThat(script.run(grown.formatted("min_mem_per_node = 128001"))).isEqualTo("2014");
        assertThat(script.run(
                        "print((changed({pn_min_cpus = 64, min_mem_per_cpu = 1}, 1000, {min_mem_per_cpu = 2001})))"))
                .isEqualTo("0");
    }

    @Test
    void tasks_are_not_split_between_hosts() throws IOException {
        // Tasks of 10 CPUs: 6 on each large host, 1 on the other.
        assertThat(code("submitted", "cpus_per_task = 10, num_tasks = 13, min_cpus = 130"))
                .isEqualTo("0");
        assertThat(code("submitted", "cpus_per_task = 10, num_tasks = 14, min_cpus = 140"))
                .isEqualTo("2014");
    }

    @Test
    void the_bell_rings_once_for_a_job_and_not_for_a_refusal() throws IOException {
        assertThat(script.run("submitted({}) print(#opened, opened[1])")).isEqualTo("1\t/run/cloister/bell r+");
        assertThat(script.run("submitted({req_nodes = 'h1'}) print(#opened)")).isEqualTo("0");
        assertThat(script.run("changed({comment = 'c'}) print(#opened)")).isEqualTo("1");
        assertThat(script.run("changed({features = 'tabc'}, 0) print(#opened)")).isEqualTo("0");
    }

    @Test
    void a_bell_that_is_missing_or_full_stops_no_job() throws IOException {
        assertThat(script.run("io.open = function() return nil, 'no such file' end print((submitted({})))"))
                .isEqualTo("0");
        assertThat(script.run("io.open = function() return {write = function() return nil, 'no space left' end,"
                        + " close = function() return nil end} end print((submitted({})))"))
                .isEqualTo("0");
    }

    @Test
    void root_submits_for_nobody() throws IOException {
        assertThat(script.run("print((submitted({}, 0)))")).isEqualTo("2002");
        assertThat(script.run("print((submitted({user_id = 0}, 1000)))")).isEqualTo("2002");
    }

    @Test
    void changes_by_agent_vm_pass_and_others_changes_of_no_place_or_shape_too() throws IOException {
        assertThat(script.run("print((changed({features = 'tabc', min_nodes = 900, admin_comment = 'x'}, 0)))"))
                .isEqualTo("0");
        for (String each : List.of(
                "",
                "comment = 'c'",
                "time_limit = 10",
                "partition = 'secure'",
                "min_nodes = 3",
                "min_nodes = 1, max_nodes = 2",
                "min_cpus = 64",
                "min_mem_per_cpu = 100")) {
            assertThat(code("changed", each)).as(each).isEqualTo("0");
        }
    }

    @Test
    void a_change_that_takes_something_away_is_one_too() throws IOException {
        for (String each : List.of("features", "req_nodes", "exc_nodes", "reservation", "prefer", "tres_per_node")) {
            assertThat(code("changed", each + " = ''")).as(each).isNotEqualTo("0");
        }
    }

    /** A job of three nodes may not grow to what two hosts alone have. */
    @Test
    void a_change_of_size_is_seen_with_the_nodes_that_the_job_has() throws IOException {
        assertThat(script.run("print((changed({pn_min_cpus = 32}, 1000, {min_nodes = 2, max_nodes = 2})))"))
                .isEqualTo("0");
        assertThat(script.run("print((changed({pn_min_cpus = 32}, 1000, {min_nodes = 3, max_nodes = 3})))"))
                .isEqualTo("2014");
        assertThat(script.run("print((changed({name = 'n'}, 1000, {min_nodes = 9, max_nodes = 9})))"))
                .isEqualTo("0");
    }

    @Test
    void a_fault_is_a_refusal() throws IOException {
        String broken = "local job = setmetatable({}, {__index = function() error('broken') end}) ";
        assertThat(script.run(broken + "print(slurm_job_submit(job, {}, 1000), said, logged)"))
                .startsWith(
                        "-1\tthe cluster's submit plugin failed; tell the project's administrator\tjob_submit.lua: ");
        assertThat(script.run(broken + "print(slurm_job_modify(job, job, {}, 1000), said)"))
                .isEqualTo("-1\tnil");
        assertThat(script.run(broken + "slurm.log_user = job.x".replace("job.x", "function() error('no user') end")
                        + " print(slurm_job_submit(job, {}, 1000))"))
                .isEqualTo("-1");
    }

    @Test
    void the_packaged_script_without_data_takes_nothing() throws IOException {
        String bare = "local script = loadfile('" + StagedSubmitScript.SOURCE.toAbsolutePath() + "') script() ";
        assertThat(script.run(bare + "print((submitted({})))")).isEqualTo("-1");
    }

    @Test
    void the_largest_data_is_walked_through_in_bounded_steps() throws IOException {
        SubmitPluginData large = new SubmitPluginData(
                Integer.MAX_VALUE,
                Path.of("/run/cloister/bell"),
                IntStream.range(0, 32).mapToObj(i -> "f" + i + "x".repeat(61)).toList(),
                IntStream.range(0, SubmitPluginData.MAX_SHAPES)
                        .mapToObj(i -> new HostShape(64, 64, 1 << 20, i))
                        .toList(),
                1024);
        StagedSubmitScript staged = new StagedSubmitScript(folder, large);
        assertThat(staged.run("local steps = 0 debug.sethook(function() steps = steps + 1 end, '', 1)"
                        + " submitted({features = string.rep('a&', 512)}) submitted({num_tasks = 9, min_cpus = 9})"
                        + " submitted({req_nodes = string.rep('h', 1000000)})"
                        + " debug.sethook() print(steps < 40000)"))
                .isEqualTo("true");
        assertThat(staged.run("print(#select(2, submitted({features = 'nix'})) < 600)"))
                .isEqualTo("true");
    }

    private String taken(String fields) throws IOException {
        return script.run("local code, _, job = submitted({" + fields
                + "}) print(code .. ' ' .. tostring(job.features) .. ' ' .. tostring(job.admin_comment))");
    }

    private String code(String call, String fields) throws IOException {
        return script.run("print((" + call + "({" + fields + "})))");
    }
}
