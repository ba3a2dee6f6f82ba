package org.cloister.vm.controller.jobsubmit;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Holds the tables of docs/slurm.md, "What is refused", against the script, row by row. */
class RefusalsDocumentTest {
    /** Of slurm_errno.h, as Slurm's commands say them. */
    private static final Map<Integer, String> WORDS = Map.of(
            2002, "Access/permission denied",
            2014, "Requested node configuration is not available",
            2018, "Invalid node name specified",
            2029, "Invalid feature specification",
            2036, "Requested operation not supported on this system",
            2053, "Requested reservation is invalid",
            2072, "Invalid generic resource (gres) specification");

    /** What sbatch sends for the options of a row. */
    private static final Map<String, String> SUBMITTED = Map.ofEntries(
            entry("--nodelist=h1", "req_nodes = 'h1'"),
            entry("--exclude=h1", "exc_nodes = 'h1'"),
            entry("--switches=2", "req_switch = 2"),
            entry("--contiguous", "contiguous = 1"),
            entry("--reservation=r", "reservation = 'r'"),
            entry("--external", "script = false, bitflags = 520093696"),
            entry("--gres=gpu:1", "tres_per_node = 'gres:gpu:1'"),
            entry("--gpus=1", "tres_per_job = 'gres:gpu:1'"),
            entry("--gpus-per-socket=1", "tres_per_socket = 'gres:gpu:1'"),
            entry("--gpus-per-task=1", "tres_per_task = 'gres:gpu:1'"),
            entry("--cpus-per-gpu=1", "cpus_per_tres = 'gres:gpu:1'"),
            entry("--mem-per-gpu=1", "mem_per_tres = 'gres:gpu:1'"),
            entry("--constraint=slow", "features = 'slow'"),
            entry("--constraint=fast|big", "features = 'fast|big'"),
            entry("--prefer=fast", "prefer = 'fast'"),
            entry("--batch=fast", "batch_features = 'fast'"),
            entry("--constraint of 1,025 characters", "features = string.rep('x', 1025)"),
            entry("--cpus-per-task=65", "cpus_per_task = 65, min_cpus = 65"),
            entry("--cpus-per-task=64", "cpus_per_task = 64, min_cpus = 64"),
            entry("--mem=256001", "min_mem_per_node = 256001"),
            entry("--tmp=100001", "pn_min_tmp_disk = 100001"),
            entry(
                    "--nodes=1 --ntasks-per-node=40 --mem-per-cpu=8000",
                    "min_nodes = 1, max_nodes = 1, ntasks_per_node = 40, num_tasks = 40, min_cpus = 40,"
                            + " min_mem_per_cpu = 8000"),
            entry("--mincpus=64 --mem=200000", "pn_min_cpus = 64, min_mem_per_node = 200000"),
            entry("--nodes=2 --tmp=1000", "min_nodes = 2, max_nodes = 2, pn_min_tmp_disk = 1000"),
            entry("--nodes=4", "min_nodes = 4, max_nodes = 4, num_tasks = 4, min_cpus = 4"),
            entry("--ntasks=145", "num_tasks = 145, min_cpus = 145"),
            entry("--nodes=2 --ntasks=129", "min_nodes = 2, max_nodes = 2, num_tasks = 129, min_cpus = 129"),
            entry("any job of root's", "user_id = 0"));

    /** What scontrol update sends for the change of a row. */
    private static final Map<String, String> CHANGED = Map.ofEntries(
            entry("Features=fast", "features = 'fast'"),
            entry("NodeList=h1", "req_nodes = 'h1'"),
            entry("ExcNodeList=h1", "exc_nodes = 'h1'"),
            entry("ReservationName=r", "reservation = 'r'"),
            entry("Gres=gpu:1", "tres_per_node = 'gres:gpu:1'"),
            entry("Prefer=fast", "prefer = 'fast'"),
            entry("Switches=2", "req_switch = 2"),
            entry("Contiguous=yes", "contiguous = 1"),
            entry("Partition=other", "partition = 'other'"),
            entry("AdminComment=x", "admin_comment = 'x'"),
            entry("NumNodes=4", "min_nodes = 4"),
            entry("NumCPUs=145", "min_cpus = 145"),
            entry("MinCPUsNode=65", "pn_min_cpus = 65"),
            entry("MinMemoryNode=256001", "min_mem_per_node = 256001"),
            entry("MinTmpDiskNode=100001", "pn_min_tmp_disk = 100001"));

    private record Row(String sentence, String words) {}

    @TempDir
    Path folder;

    private StagedSubmitScript script;
    private String section = "";

    @BeforeEach
    void read() throws IOException {
        script = new StagedSubmitScript(folder, StagedSubmitScript.EXAMPLE);
        String document = Files.readString(
                Path.of(System.getProperty("cloister.root", "..")).resolve("docs/slurm.md"));
        int from = document.indexOf("\n## What is refused\n");
        assertThat(from).isNotNegative();
        int to = document.indexOf("\n## ", from + 1);
        section = document.substring(from, to < 0 ? document.length() : to);
    }

    @Test
    void every_submission_in_the_table_is_refused_in_its_words() throws IOException {
        assertThat(table("asked")).isEqualTo(answers("submitted", SUBMITTED));
    }

    @Test
    void every_change_in_the_table_is_refused_in_its_words() throws IOException {
        assertThat(table("change")).isEqualTo(answers("changed", CHANGED));
    }

    /** So that no sentence is added to the script alone. */
    @Test
    void every_sentence_of_the_script_is_in_a_table() throws IOException {
        String text = Files.readString(StagedSubmitScript.SOURCE);
        Matcher forms = Pattern.compile("(?:refuse\\([A-Z_]+, |\"--[a-z-]+\", [A-Z_]+, )\"([^\"]*)\"")
                .matcher(text);
        int count = 0;
        while (forms.find()) {
            count++;
            String expected = Pattern.compile("%s|%d|%\\.0f")
                    .splitAsStream(forms.group(1))
                    .map(Pattern::quote)
                    .collect(Collectors.joining(".*"));
            assertThat(section.replace("\\|", "|").lines().anyMatch(line -> line.matches(".*" + expected + ".*")))
                    .as(forms.group(1))
                    .isTrue();
        }
        assertThat(count).isGreaterThan(20);
    }

    private Map<String, Row> table(String firstColumn) {
        List<String> rows = section.lines()
                .dropWhile(line -> !line.startsWith("| " + firstColumn + " |"))
                .skip(2)
                .takeWhile(line -> line.startsWith("| "))
                .toList();
        Map<String, Row> table = new LinkedHashMap<>();
        for (String row : rows) {
            String[] cells = row.replace("\\|", "\u0000").split("\\|", -1);
            table.put(cell(cells[1]), new Row(cell(cells[2]), cell(cells[3])));
        }
        return table;
    }

    private static String cell(String text) {
        return text.replace('\u0000', '|').strip().replace("`", "");
    }

    private Map<String, Row> answers(String call, Map<String, String> requests) throws IOException {
        Map<String, Row> answers = new LinkedHashMap<>();
        for (Map.Entry<String, String> each : requests.entrySet()) {
            String[] answer =
                    script.run("print(" + call + "({" + each.getValue() + "}))").split("\t", -1);
            String sentence = answer[1].replaceFirst("^job_submit.lua: job 12 of uid 1000, change by uid 1000: ", "");
            String words = WORDS.get(Integer.parseInt(answer[0]));
            answers.put(each.getKey(), new Row(sentence, words == null ? "code " + answer[0] : words));
        }
        return answers;
    }
}
