package org.cloister.host.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.reconcile.VmTermination;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** docs/metrics.md, the table of agent-host, against what it says. */
class HostMetricsDocumentTest {
    private static final Path DOCUMENT = Path.of(System.getProperty("cloister.root"), "docs/metrics.md");
    private static final Pattern ROW = Pattern.compile(
            "^\\| `(cloister_host_\\w+)` \\| (gauge|counter|summary) \\| (\\w+) \\| [^|]+ \\| [^|]+ \\|$",
            Pattern.MULTILINE);

    @TempDir
    private Path folder = Path.of("");

    @Test
    void every_metric_is_in_the_document_and_every_metric_of_the_document_is_there() throws Exception {
        Map<String, String> exported = new TreeMap<>();
        try (HostMetricsScene scene = new HostMetricsScene(folder)) {
            scene.types().forEach((name, type) -> {
                if (!name.startsWith("jvm_")) {
                    exported.put(shortened(name), type);
                }
            });
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
        assertThat(document.lines().filter(line -> line.startsWith("| `cloister_host_")))
                .as("rows that the pattern reads")
                .hasSize(documented.size());
        assertThat(documented).isEqualTo(exported).isNotEmpty();
    }

    private static String shortened(String name) {
        for (VmStartStep step : VmStartStep.values()) {
            if (name.equals("cloister_host_" + HostMetricsScene.word(step) + "_failures_total")) {
                return "cloister_host_PHASE_failures_total";
            }
        }
        for (VmTermination.Why why : VmTermination.Why.values()) {
            if (name.equals("cloister_host_ends_" + HostMetricsScene.word(why) + "_total")) {
                return "cloister_host_ends_WHY_total";
            }
        }
        return name;
    }

    @Test
    void every_reason_of_an_end_is_named() throws IOException {
        String document = Files.readString(DOCUMENT);
        for (VmTermination.Why why : VmTermination.Why.values()) {
            assertThat(document).contains("`" + HostMetricsScene.word(why) + "`");
        }
    }
}
