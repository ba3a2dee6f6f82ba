package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.cloister.lab.Lab;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabHost;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Versions of a release's machines are those that docs/compatibility.md says were run. */
@Tag("scenario")
@Tag("ground")
@Tag("host")
@ExtendWith(SharedLab.class)
@DrawnRelease
class VersionsTest {
    private static final Pattern NUMBERS = Pattern.compile("(\\d+)(\\.\\d+)?");
    private static final Map<String, String> COLUMNS =
            Map.of("bookworm", "Debian 12", "trixie", "Debian 13", "sid", "Debian sid");
    private static final Map<String, List<String>> PROGRAMS = Map.of(
            "Slurm", List.of("slurmd", "-V"),
            "libvirt", List.of("virsh", "--version"),
            "QEMU", List.of("qemu-system-x86_64", "--version"),
            "Open vSwitch", List.of("ovs-vsctl", "--version"),
            "MariaDB", List.of("mariadbd", "--version"),
            "OpenSSH", List.of("ssh", "-V"),
            "nftables", List.of("nft", "--version"),
            "Java", List.of("java", "-version"));

    /** The first two numbers of a version. */
    private record Version(int major, int minor) implements Comparable<Version> {
        static Version first(String text) {
            Matcher numbers = NUMBERS.matcher(text);
            assertThat(numbers.find()).as(text).isTrue();
            return new Version(
                    Integer.parseInt(numbers.group(1)),
                    numbers.group(2) == null
                            ? 0
                            : Integer.parseInt(numbers.group(2).substring(1)));
        }

        @Override
        public int compareTo(Version other) {
            return major == other.major ? Integer.compare(minor, other.minor) : Integer.compare(major, other.major);
        }
    }

    /** A stable release keeps its versions; sid's are those of the day on which it ran, or newer. */
    @Test
    void the_documents_versions_are_those_of_the_release(Lab lab) throws IOException {
        LabHost host = lab.hosts().get(0);
        String suite = TestLabs.releases(LabHome.fromEnvironment(), VersionsTest.class)
                .of(host.name())
                .suite();
        Map<String, Version> documented = documented(COLUMNS.getOrDefault(suite, suite));
        assertThat(documented.keySet()).isEqualTo(PROGRAMS.keySet());
        for (Map.Entry<String, List<String>> each : PROGRAMS.entrySet()) {
            LabCommand.Output output =
                    host.command(each.getValue().toArray(String[]::new)).run();
            Version have = Version.first(output.out() + output.err());
            System.out.println(suite + " " + each.getKey() + " " + have.major + "." + have.minor);
            Version want = Objects.requireNonNull(documented.get(each.getKey()));
            // Of Java the document names the first number alone.
            Version compared = each.getKey().equals("Java") ? new Version(have.major, 0) : have;
            if (suite.equals("sid")) {
                assertThat(compared).as(each.getKey()).isGreaterThanOrEqualTo(want);
            } else {
                assertThat(compared).as(each.getKey()).isEqualTo(want);
            }
        }
    }

    /** Reads a column of the document's first table. */
    private static Map<String, Version> documented(String column) throws IOException {
        List<List<String>> rows = Files.readAllLines(Path.of("../docs/compatibility.md")).stream()
                .dropWhile(line -> !line.startsWith("| component"))
                .takeWhile(line -> line.startsWith("|"))
                .filter(line -> !line.startsWith("|-"))
                .map(line -> Stream.of(line.split("\\|", -1)).map(String::strip).toList())
                .toList();
        int at = rows.get(0).indexOf(column);
        assertThat(at).as("column %s of docs/compatibility.md", column).isPositive();
        return rows.stream().skip(1).collect(Collectors.toMap(row -> row.get(1), row -> Version.first(row.get(at))));
    }
}
