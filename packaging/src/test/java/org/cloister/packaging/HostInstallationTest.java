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

/** In a Debian root that has systemd and does not run it, as in a container or an image that is being built. */
@Tag("ground")
@Tag("packages")
@Tag("scenario")
class HostInstallationTest {
    private static final String LAUNCHER = "/usr/libexec/cloister/agent-host";
    private static final String CONFIG = "/etc/cloister/agent-host.toml";
    private static final String ARCHIVE = "/var/cache/cloister/agent-host.jsa";
    /** Records of dpkg, rpm and Java; and users, which stay when a package goes. */
    private static final List<String> NOT_OURS = List.of(
            "/var/lib/dpkg(/.*)?",
            "/var/log/(dpkg|alternatives)\\.log",
            "/tmp(/.*)?",
            "/root/\\.rpmdb(/.*)?",
            "/etc/(passwd|group|shadow|gshadow)-?",
            "/etc/\\.pwd\\.lock");

    @TempDir
    Path folder = Path.of("");

    @Test
    void the_deb_is_installed_upgraded_removed_and_purged() throws IOException, InterruptedException {
        try (CleanRoot root = CleanRoot.unpack("systemd")) {
            Map<String, String> before = root.contents(NOT_OURS);
            root.text("dpkg", "--install", root.give(Packages.HOST_DEB));
            assertInstalled(root);
            root.text("sh", "-c", "echo key > /var/lib/cloister/host/host.key; echo '# mine' >> " + CONFIG);

            root.text("dpkg", "--install", root.give(newer()));
            assertThat(root.text("dpkg-query", "-W", "-f", "${Version}", "cloister-agent-host"))
                    .isEqualTo("0.1.1~test");
            assertThat(root.text("tail", "-n", "1", CONFIG)).isEqualTo("# mine\n");
            root.text("dpkg", "--remove", "cloister-agent-host");
            assertThat(root.has(CONFIG)).as("configuration after removal").isTrue();
            assertThat(root.has("/var/lib/cloister/host/host.key"))
                    .as("key after removal")
                    .isTrue();
            root.text("dpkg", "--purge", "cloister-agent-host");
            assertThat(root.changesSince(before, NOT_OURS)).isEmpty();
            assertThat(root.text("getent", "passwd", "cloister-host")).contains("/usr/sbin/nologin");
        }
    }

    @Test
    void the_rpm_is_installed_and_erased() throws IOException, InterruptedException {
        try (CleanRoot root = CleanRoot.unpack("systemd")) {
            rpm(root, "--initdb");
            Files.createDirectories(root.path.resolve("usr/share/licenses"));
            Map<String, String> before = root.contents(NOT_OURS);
            rpm(root, "--install --nodeps " + Packages.HOST_RPM);
            assertInstalled(root);
            assertThat(rpm(root, "--verify --nodeps cloister-agent-host")).isEmpty();
            rpm(root, "--erase cloister-agent-host");
            // Keys and what they signed for are the operator's to remove.
            root.text("rm", "-r", "/var/lib/cloister", "/run/cloister");
            assertThat(root.changesSince(before, NOT_OURS)).isEmpty();
        }
    }

    private static void assertInstalled(CleanRoot root) throws IOException, InterruptedException {
        assertThat(root.text("getent", "passwd", "cloister-host")).contains("/usr/sbin/nologin");
        assertThat(root.text("id", "-nG", "cloister-host").strip()).isEqualTo("cloister-host libvirt");
        assertThat(root.text("getent", "group", "cloister")).isNotEmpty();
        assertThat(root.text("stat", "-c", "%a %U %G", CONFIG, "/var/lib/cloister/host", "/var/lib/cloister/scratch")
                        .lines())
                .containsExactly("644 root root", "700 cloister-host cloister-host", "711 cloister-host cloister-host");
        assertThat(root.has(ARCHIVE)).isTrue();
        assertThat(root.text(LAUNCHER, "--check", CONFIG)).isEmpty();
        assertThat(root.text("sh", "-c", "echo odd | /usr/libexec/cloister/agent-host-root 2>/dev/null"))
                .startsWith("refused want take, drain or resume");
        root.text("sh", "-c", "echo 'relais = 1' > /tmp/wrong.toml");
        Command.Result wrong = root.run(LAUNCHER, "--check", "/tmp/wrong.toml");
        assertThat(wrong.status()).as(wrong.text()).isEqualTo(78);
        assertThat(wrong.text()).contains("wrong.toml:1").contains("relais");
    }

    private static String rpm(CleanRoot root, String words) throws IOException, InterruptedException {
        Command.Result result = root.runOutside("rpm --root \"$ROOT\" " + words + " 2>&1 "
                + "| sed -e '/RPM should not be used directly/d' -e '/use .*alien/d'");
        assertThat(result.status()).as(result.text()).isZero();
        assertThat(result.text()).doesNotContain("error:").doesNotContain("warning:");
        return result.text();
    }

    /** The same package under a later version. */
    private Path newer() throws IOException, InterruptedException {
        Path tree = folder.resolve("tree");
        Command.of("dpkg-deb", "-R", Packages.HOST_DEB.toString(), tree.toString())
                .text();
        Path control = tree.resolve("DEBIAN/control");
        Files.writeString(
                control,
                Files.readString(control).replace("Version: " + Packages.VERSION + "\n", "Version: 0.1.1~test\n"));
        Path deb = folder.resolve("newer.deb");
        Command.of("dpkg-deb", "--root-owner-group", "-b", tree.toString(), deb.toString())
                .text();
        return deb;
    }
}
