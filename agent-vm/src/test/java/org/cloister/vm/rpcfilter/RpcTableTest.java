package org.cloister.vm.rpcfilter;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** docs/threat-model.md: the table of what workers may ask of slurmctld against the filter, and that of slurmd for its form. */
class RpcTableTest {
    private static final Path DOCUMENT = Path.of(System.getProperty("cloister.root"), "docs/threat-model.md");
    private static final Pattern ROW =
            Pattern.compile("^\\| (admitted|refused) \\| ([^|]+) \\| ([^|]+) \\| ([^|]*)\\|$", Pattern.MULTILINE);
    private static final Pattern SLURMD_ROW = Pattern.compile(
            "^\\| (`[A-Z_]+`(?: `[A-Z_]+`)*) \\| [^|]+ \\| [^|]+ \\| [^|]+ \\| (source|`SlurmdRequestsTest#[^|]+) \\|$");
    private static final Pattern NAME = Pattern.compile("`([A-Z_]+)`");

    @Test
    void every_request_is_in_the_table_once_with_its_fate_and_a_reason() throws IOException {
        List<String> admitted = new ArrayList<>();
        List<String> refused = new ArrayList<>();
        Matcher row = ROW.matcher(Files.readString(DOCUMENT));
        while (row.find()) {
            Matcher name = NAME.matcher(row.group(2));
            while (name.find()) {
                (row.group(1).equals("admitted") ? admitted : refused).add(name.group(1));
            }
            assertThat(row.group(3)).as(row.group(2)).hasSizeGreaterThan(10);
            assertThat(row.group(4).isBlank())
                    .as(row.group(2))
                    .isEqualTo(row.group(1).equals("refused"));
        }
        assertThat(admitted).containsExactlyInAnyOrderElementsOf(names(true));
        assertThat(refused).containsExactlyInAnyOrderElementsOf(names(false));
    }

    private static List<String> names(boolean admitted) {
        return Stream.of(SlurmMessageType.values())
                .filter(type -> type.isAdmitted() == admitted)
                .map(Enum::name)
                .toList();
    }

    @Test
    void each_row_of_slurmds_table_names_its_test_or_that_no_command_sends_it() throws IOException {
        String page = Files.readString(DOCUMENT);
        int table = page.indexOf("| request to slurmd |");
        List<String> rows = page.substring(table, page.indexOf("\n\n", table))
                .lines()
                .skip(2)
                .toList();
        List<String> requests = new ArrayList<>();
        List<String> tests = new ArrayList<>();
        for (String each : rows) {
            Matcher row = SLURMD_ROW.matcher(each);
            assertThat(row.matches()).as(each).isTrue();
            requests.addAll(List.of(row.group(1).split(" ", -1)));
            if (!row.group(2).equals("source")) {
                tests.add(row.group(2));
            }
        }
        assertThat(requests).hasSizeGreaterThan(40).doesNotHaveDuplicates();
        assertThat(tests).hasSizeGreaterThan(8).doesNotHaveDuplicates();
    }

    @Test
    void its_bounds_are_the_filters() throws IOException {
        RpcFilterLimits limits = RpcFilterLimits.PRODUCT;
        assertThat(Files.readString(DOCUMENT).replace('\n', ' '))
                .contains("one worker has " + limits.maxConnectionsPerWorker() + " connections, "
                        + limits.maxUpstreamPerWorker() + " of them on to slurmctld")
                .contains("all workers " + limits.maxConnections() + " and " + limits.maxUpstream() + ";")
                .contains("a message has " + (limits.maxMessageBytes() >> 20) + " MiB at most; the header comes within "
                        + limits.headerTimeout().toSeconds() + " s, the message within "
                        + limits.requestTimeout().toSeconds() + ".");
    }
}
