package org.cloister.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Installs the RPM in a Debian root with an empty RPM database: its scripts run in a real shell with a real Java, which
 * rpm does not know.
 */
@Tag("ground")
@Tag("packages")
@Tag("scenario")
class AgentctlRpmInstallationTest {
    /** Rpm's database, which Debian's rpm keeps in root's home, and /tmp, where Java puts its statistics. */
    private static final List<String> NOT_OURS = List.of("/root/\\.rpmdb(/.*)?", "/tmp(/.*)?");

    @TempDir
    Path folder = Path.of("");

    @Test
    void installing_upgrading_and_erasing_leaves_nothing_behind() throws IOException, InterruptedException {
        PackagingCommand.require("rpm", "rpm");
        Path newer = secondRelease();
        try (DebianRoot root = DebianRoot.unpack()) {
            rpm(root, "--initdb");
            // Folders of the distribution that a package of rpm's world may expect: filesystem's and systemd's.
            Files.createDirectories(root.path.resolve("usr/share/licenses"));
            Files.createDirectories(root.path.resolve("usr/lib/systemd/system-preset"));
            Files.createDirectories(root.path.resolve("usr/share/bash-completion/completions"));
            Map<String, String> before = root.contents(NOT_OURS);

            rpm(root, "--install --nodeps --excludeartifacts " + BuiltPackages.RPM);
            assertThat(root.has(BuiltPackages.ARCHIVE)).isTrue();
            assertThat(root.has("/usr/share/man/man1/agentctl.1.gz")).isTrue();
            assertThat(root.text("agentctl", "version")).contains(BuiltPackages.VERSION);
            assertThat(root.text("agentctl", "--help")).contains("doctor");
            assertThat(rpm(root, "--verify --nodeps cloister-agentctl")).isEmpty();
            Object first = inode(root);

            rpm(root, "--upgrade --nodeps " + newer);
            assertThat(rpm(root, "--query cloister-agentctl").strip())
                    .isEqualTo("cloister-agentctl-" + BuiltPackages.VERSION + "-2.noarch");
            assertThat(inode(root)).as("the archive's inode after an upgrade").isNotEqualTo(first);
            assertThat(root.text("agentctl", "version")).contains(BuiltPackages.VERSION);

            rpm(root, "--erase cloister-agentctl");
            assertThat(root.changesSince(before, NOT_OURS)).isEmpty();
        }
    }

    private static String rpm(DebianRoot root, String words) throws IOException, InterruptedException {
        PackagingCommand.Result result = root.runOutside("rpm --root \"$ROOT\" " + words + " 2>&1 "
                + "| sed -e '/RPM should not be used directly/d' -e '/use .*alien/d'");
        assertThat(result.status()).as(result.text()).isZero();
        assertThat(result.text()).doesNotContain("error:").doesNotContain("warning:");
        return result.text();
    }

    private static Object inode(DebianRoot root) throws IOException {
        return Files.getAttribute(root.path.resolve(BuiltPackages.ARCHIVE.substring(1)), "unix:ino");
    }

    /** The same package as release 2, made from the files that the build has laid out. */
    private Path secondRelease() throws IOException, InterruptedException {
        PackagingCommand.of(
                        "mvn",
                        "--batch-mode",
                        "--quiet",
                        "--offline",
                        "--projects",
                        "packaging",
                        "de.dentrassi.maven:rpm:rpm@rpm",
                        "-Drpm.release=2",
                        "-Drpm.folder=" + folder)
                .in(BuiltPackages.ROOT)
                .text();
        return folder.resolve("cloister-agentctl-" + BuiltPackages.VERSION + "-2.noarch.rpm");
    }
}
