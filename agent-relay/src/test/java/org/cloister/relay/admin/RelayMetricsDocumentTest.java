package org.cloister.relay.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.daemon.http.AdminHttpServer;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.relay.links.RelayFixture;
import org.cloister.relay.links.RelayServerProcess;
import org.cloister.relay.links.TestAgent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** docs/metrics.md against what a relay says. */
@Timeout(60)
class RelayMetricsDocumentTest {
    private static final Path DOCUMENT = Path.of(System.getProperty("cloister.root"), "docs/metrics.md");
    private static final Pattern ROW = Pattern.compile(
            "^\\| `(cloister_relay_\\w+)` \\| (gauge|counter) \\| (\\w+) \\| [^|]+ \\| [^|]+ \\|$", Pattern.MULTILINE);
    private static final Pattern TYPE = Pattern.compile("^# TYPE (\\S+) (\\w+)$", Pattern.MULTILINE);

    @TempDir
    private Path state = Path.of("");

    @Test
    void every_metric_is_in_the_document_and_every_metric_of_the_document_is_there() throws Exception {
        String output = metrics();
        Map<String, String> exported = new TreeMap<>();
        Matcher type = TYPE.matcher(output);
        while (type.find()) {
            if (!type.group(1).startsWith("jvm_")) {
                exported.put(type.group(1), type.group(2));
            }
        }
        Map<String, String> documented = new TreeMap<>();
        Matcher row = ROW.matcher(Files.readString(DOCUMENT));
        int each = 0;
        while (row.find()) {
            if (row.group(1).contains("CLAUSE")) {
                for (TicketClause clause : TicketClause.values()) {
                    String name = clause.toString().replace('-', '_');
                    documented.put(row.group(1).replace("CLAUSE", name), row.group(2));
                }
                each++;
                continue;
            }
            documented.put(row.group(1), row.group(2));
            assertThat(row.group(1).endsWith("_bytes_total") || row.group(1).endsWith("_bytes"))
                    .as(row.group())
                    .isEqualTo(row.group(3).equals("bytes"));
        }
        assertThat(Files.readString(DOCUMENT).lines().filter(line -> line.startsWith("| `cloister_relay_")))
                .as("rows that the pattern reads")
                .hasSize(documented.size() - each * (TicketClause.values().length - 1));
        assertThat(documented).isEqualTo(exported).isNotEmpty();
    }

    @Test
    void counters_are_named_so_and_nothing_has_a_label() throws Exception {
        String output = metrics();
        assertThat(output.lines().filter(line -> line.startsWith("cloister_")))
                .isNotEmpty()
                .allMatch(line -> line.matches("\\w+ [0-9.E]+"));
        Matcher type = TYPE.matcher(output);
        while (type.find()) {
            assertThat(type.group(1).endsWith("_total"))
                    .as(type.group())
                    .isEqualTo(type.group(2).equals("counter"));
        }
    }

    /** Of a relay that an agent is attached to. */
    private String metrics() throws Exception {
        try (RelayFixture fixture = new RelayFixture(state);
                TestAgent host = fixture.agent(RelayFixture.HOST);
                AdminHttpServer socket = fixture.relay.adminApi().listen(state.resolve("socket"), fixture.loops)) {
            assertThat(host.attachment()).isNotNull();
            assertThat(socket.address()).isNotNull();
            return RelayServerProcess.request(state.resolve("socket"), "GET /metrics");
        }
    }
}
