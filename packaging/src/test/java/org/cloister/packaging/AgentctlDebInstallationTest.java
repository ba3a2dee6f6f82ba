package org.cloister.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

@Tag("ground")
@Tag("packages")
@Tag("scenario")
@DisabledIfSystemProperty(named = "cloister.turn", matches = "[0-5]|12|6|7|9|10", disabledReason = "not its turn")
class AgentctlDebInstallationTest {
    /** dpkg's own records and logs, and /tmp, where the test puts packages and Java its statistics. */
    private static final List<String> NOT_OURS =
            List.of("/var/lib/dpkg(/.*)?", "/var/log/(dpkg|alternatives)\\.log", "/tmp(/.*)?");

    @SuppressWarnings("NullAway.Init") // unpack sets it before all tests
    private static DebianRoot root;

    @TempDir
    Path folder = Path.of("");

    @BeforeAll
    static void unpack() throws IOException, InterruptedException {
        root = DebianRoot.unpack();
    }

    @AfterAll
    static void remove() throws IOException {
        root.close();
    }

    @AfterEach
    void purge() throws IOException, InterruptedException {
        root.text("dpkg", "--purge", "cloister-agentctl");
    }

    @Test
    void installing_upgrading_removing_and_purging_leaves_nothing_behind() throws IOException, InterruptedException {
        Map<String, String> before = root.contents(NOT_OURS);

        root.text("dpkg", "--install", root.copyIn(BuiltPackages.DEB));
        assertThat(root.has(BuiltPackages.ARCHIVE)).isTrue();
        assertThat(root.has("/usr/share/man/man1/agentctl.1.gz")).isTrue();
        assertThat(root.text("agentctl", "version")).contains(BuiltPackages.VERSION);
        assertThat(root.text("agentctl", "--help")).contains("doctor");

        Object first = inode();
        root.text("dpkg", "--install", root.copyIn(newer()));
        assertThat(root.text("dpkg-query", "-W", "-f", "${Version}", "cloister-agentctl"))
                .isEqualTo("0.1.1~test");
        assertThat(inode()).as("the archive's inode after an upgrade").isNotEqualTo(first);
        assertThat(root.text("agentctl", "version")).contains(BuiltPackages.VERSION);

        root.text("dpkg", "--remove", "cloister-agentctl");
        assertThat(root.changesSince(before, NOT_OURS)).isEmpty();
        root.text("dpkg", "--install", root.copyIn(BuiltPackages.DEB));
        root.text("dpkg", "--purge", "cloister-agentctl");
        assertThat(root.changesSince(before, NOT_OURS)).isEmpty();
        assertThat(root.text("sh", "-c", "ls /var/lib/dpkg/info")).doesNotContain("cloister");
    }

    @Test
    void the_archive_is_made_anew_when_java_changes() throws IOException, InterruptedException {
        root.text("dpkg", "--install", root.copyIn(BuiltPackages.DEB));
        Object first = inode();
        root.text("dpkg-trigger", "--by-package=" + "default-jre-headless", "/usr/lib/jvm");
        root.text("dpkg", "--triggers-only", "--pending");
        assertThat(inode()).as("the archive's inode after a trigger").isNotEqualTo(first);
    }

    @Test
    void the_archive_has_the_classes_of_agentctl() throws IOException, InterruptedException {
        root.text("dpkg", "--install", root.copyIn(BuiltPackages.DEB));
        assertThat(root.text("env", "JDK_JAVA_OPTIONS=-Xlog:class+load", "agentctl", "version"))
                .contains("org.cloister.ctl.Agentctl source: shared objects file")
                .contains("picocli.CommandLine source: shared objects file");
    }

    @Test
    void a_stale_or_missing_archive_is_not_mentioned() throws IOException, InterruptedException {
        root.text("dpkg", "--install", root.copyIn(BuiltPackages.DEB));
        String output = root.text("agentctl", "version");
        Path archive = root.path.resolve(BuiltPackages.ARCHIVE.substring(1));
        root.text("sh", "-c", "touch /usr/share/cloister/agentctl/*.jar");
        assertThat(root.text("agentctl", "version")).isEqualTo(output);
        Files.delete(archive);
        Files.writeString(archive, "no archive");
        assertThat(root.text("agentctl", "version")).isEqualTo(output);
        Files.delete(archive);
        assertThat(root.text("agentctl", "version")).isEqualTo(output);
        assertThat(root.text("env", "JDK_JAVA_OPTIONS=-Xlog:class+load", "agentctl", "version"))
                .as("Java's own archive when ours is missing")
                .contains("java.lang.Object source: shared objects file");
    }

    @Test
    void an_installation_without_proc_succeeds_and_says_what_is_missing() throws IOException, InterruptedException {
        PackagingCommand.Result result = root.runWithoutProc("dpkg", "--install", root.copyIn(BuiltPackages.DEB));
        assertThat(result.status()).as(result.text()).isZero();
        assertThat(result.text()).contains("cannot make " + BuiltPackages.ARCHIVE + ": java needs /proc mounted");
        assertThat(root.has(BuiltPackages.ARCHIVE)).isFalse();
    }

    @Test
    void agentctl_without_java_says_what_to_install() throws IOException, InterruptedException {
        root.text("dpkg", "--install", root.copyIn(BuiltPackages.DEB));
        root.text("mv", "/usr/bin/java", "/usr/bin/java.away");
        PackagingCommand.Result result = root.run("agentctl", "version");
        root.text("mv", "/usr/bin/java.away", "/usr/bin/java");
        assertThat(result.status()).isEqualTo(69);
        assertThat(result.text())
                .contains("error: want Java 17 or newer, have /usr/bin/java: no such program")
                .contains("apt-get install default-jre-headless");
    }

    private Object inode() throws IOException {
        return Files.getAttribute(root.path.resolve(BuiltPackages.ARCHIVE.substring(1)), "unix:ino");
    }

    /** The same package under a later version. */
    private Path newer() throws IOException, InterruptedException {
        Path tree = folder.resolve("tree");
        PackagingCommand.of("dpkg-deb", "-R", BuiltPackages.DEB.toString(), tree.toString())
                .text();
        Path control = tree.resolve("DEBIAN/control");
        Files.writeString(
                control,
                Files.readString(control).replace("Version: " + BuiltPackages.VERSION + "\n", "Version: 0.1.1~test\n"));
        Path deb = folder.resolve("newer.deb");
        PackagingCommand.of("dpkg-deb", "--root-owner-group", "-b", tree.toString(), deb.toString())
                .text();
        return deb;
    }
}
