package org.cloister.vm.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;
import org.cloister.vm.controller.tickets.WorkerPhase;
import org.junit.jupiter.api.Test;

/** docs/metrics.md, the table of agent-vm, against what it says. */
class VmMetricsDocumentTest {
    private static final Path DOCUMENT = Path.of(System.getProperty("cloister.root"), "docs/metrics.md");
    private static final Pattern ROW = Pattern.compile(
            "^\\| `(cloister_vm_\\w+)` \\| (gauge|counter|summary) \\| (\\w+) \\| [^|]+ \\| [^|]+ \\|$",
            Pattern.MULTILINE);
    private static final Pattern TYPE = Pattern.compile("^# TYPE (\\S+) (\\w+)$", Pattern.MULTILINE);

    @Test
    void every_metric_is_in_the_document_and_every_metric_of_the_document_is_there() throws IOException {
        VmMetrics metrics = new VmMetrics();
        metrics.attemptFailed(new EndReason(WorkerPhase.BOOT, "code", "text", "", true));
        metrics.rpcsRefused("name", 1);
        Map<String, String> exported = new TreeMap<>();
        Matcher type = TYPE.matcher(new String(metrics.text(), StandardCharsets.UTF_8));
        while (type.find()) {
            String name = type.group(1)
                    .replace("failures_code_", "failures_CODE_")
                    .replace("refused_name_total", "refused_NAME_total");
            exported.put(
                    name.replaceFirst("^cloister_vm_[a-z]+_failures_", "cloister_vm_PHASE_failures_"), type.group(2));
        }
        Map<String, String> documented = new TreeMap<>();
        String document = Files.readString(DOCUMENT);
        Matcher row = ROW.matcher(document);
        while (row.find()) {
            documented.put(row.group(1), row.group(2));
            assertThat(row.group(1).endsWith("_seconds"))
                    .as(row.group())
                    .isEqualTo(row.group(3).equals("seconds"));
        }
        assertThat(document.lines().filter(line -> line.startsWith("| `cloister_vm_")))
                .as("rows that the pattern reads")
                .hasSize(documented.size());
        assertThat(documented).isEqualTo(exported).isNotEmpty();
    }
}
