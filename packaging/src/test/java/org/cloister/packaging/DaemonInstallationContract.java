package org.cloister.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A daemon's packages in a Debian root that has systemd and does not run it, as in a container or an image that is being built.
 */
abstract class DaemonInstallationContract {
    /** Records of dpkg, rpm and Java; and users, which stay when a package goes. */
    private static final List<String> NOT_OURS = List.of(
            "/var/lib/dpkg(/.*)?",
            "/var/log/(dpkg|alternatives)\\.log",
            "/tmp(/.*)?",
            "/root/\\.rpmdb(/.*)?",
            "/etc/(passwd|group|shadow|gshadow)-?",
            "/etc/\\.pwd\\.lock");

    private final String daemon;
    private final String user;
    private final Path deb;
    private final Path rpm;
    private final List<String> requirements;
    /** What the daemon keeps, such as its key. */
    final String state;

    final String launcher;
    /** Files that an operator may have changed. */
    final List<String> configurations;

    @TempDir
    Path folder = Path.of("");

    /** @param role as in {@code relay}, of {@code agent-relay} */
    DaemonInstallationContract(String role, Path deb, Path rpm) {
        this(role, "cloister-" + role, List.of("/etc/cloister/agent-" + role + ".toml"), List.of("systemd"), deb, rpm);
    }

    /**
     * @param user that it runs as; root, or one that the packages make
     * @param requirements Debian packages that have to be there before
     */
    DaemonInstallationContract(
            String role, String user, List<String> configurations, List<String> requirements, Path deb, Path rpm) {
        this.daemon = "agent-" + role;
        this.user = user;
        this.deb = deb;
        this.rpm = rpm;
        this.state = "/var/lib/cloister/" + role;
        this.launcher = "/usr/libexec/cloister/" + daemon;
        this.configurations = configurations;
        this.requirements = requirements;
    }

    /** What else is to be as it should. */
    abstract void requireInstalled(DebianRoot root) throws IOException, InterruptedException;

    @Test
    void the_deb_is_installed_upgraded_removed_and_purged() throws IOException, InterruptedException {
        String key = state + "/own.key";
        try (DebianRoot root = DebianRoot.unpack(requirements.toArray(String[]::new))) {
            Map<String, String> before = root.contents(NOT_OURS);
            root.text("dpkg", "--install", root.copyIn(deb));
            assertInstalled(root);
            root.text("sh", "-c", "echo key > " + key);
            for (String file : configurations) {
                root.text("sh", "-c", "echo '# mine' >> " + file);
            }

            root.text("dpkg", "--install", root.copyIn(newer()));
            assertThat(root.text("dpkg-query", "-W", "-f", "${Version}", "cloister-" + daemon))
                    .isEqualTo("0.1.1~test");
            for (String file : configurations) {
                assertThat(root.text("tail", "-n", "1", file)).isEqualTo("# mine\n");
            }
            root.text("dpkg", "--remove", "cloister-" + daemon);
            for (String file : configurations) {
                assertThat(root.has(file)).as("configuration after removal").isTrue();
            }
            assertThat(root.has(key)).as("key after removal").isTrue();
            root.text("dpkg", "--purge", "cloister-" + daemon);
            assertThat(root.changesSince(before, NOT_OURS)).isEmpty();
            requireUser(root);
        }
    }

    @Test
    void the_rpm_is_installed_and_erased() throws IOException, InterruptedException {
        try (DebianRoot root = DebianRoot.unpack(requirements.toArray(String[]::new))) {
            rpm(root, "--initdb");
            Files.createDirectories(root.path.resolve("usr/share/licenses"));
            Map<String, String> before = root.contents(NOT_OURS);
            rpm(root, "--install --nodeps " + rpm);
            assertInstalled(root);
            assertThat(rpm(root, "--verify --nodeps cloister-" + daemon)).isEmpty();
            rpm(root, "--erase cloister-" + daemon);
            // Keys and what they signed for are the operator's to remove.
            root.text("rm", "-rf", "/var/lib/cloister", "/run/cloister");
            assertThat(root.changesSince(before, NOT_OURS)).isEmpty();
        }
    }

    private void assertInstalled(DebianRoot root) throws IOException, InterruptedException {
        requireUser(root);
        for (String file : configurations) {
            assertThat(root.text("stat", "-c", "%a %U %G", file)).isEqualTo("644 root root\n");
        }
        assertThat(root.text("stat", "-c", "%a %U %G", state)).isEqualTo("700 " + user + " " + user + "\n");
        assertThat(root.text(launcher, "--check")).isEmpty();
        root.text("sh", "-c", "echo 'odd = 1' > /tmp/wrong.toml");
        PackagingCommand.Result wrong = root.run(launcher, "--check", "/tmp/wrong.toml");
        assertThat(wrong.status()).as(wrong.text()).isEqualTo(78);
        assertThat(wrong.text()).contains("wrong.toml:1").contains("odd");
        requireInstalled(root);
    }

    private void requireUser(DebianRoot root) throws IOException, InterruptedException {
        if (!user.equals("root")) {
            assertThat(root.text("getent", "passwd", user)).contains("/usr/sbin/nologin");
        }
    }

    private static String rpm(DebianRoot root, String words) throws IOException, InterruptedException {
        PackagingCommand.Result result = root.runOutside("rpm --root \"$ROOT\" " + words + " 2>&1 "
                + "| sed -e '/RPM should not be used directly/d' -e '/use .*alien/d'");
        assertThat(result.status()).as(result.text()).isZero();
        assertThat(result.text()).doesNotContain("error:").doesNotContain("warning:");
        return result.text();
    }

    /** The same package under a later version. */
    private Path newer() throws IOException, InterruptedException {
        Path tree = folder.resolve("tree");
        PackagingCommand.of("dpkg-deb", "-R", deb.toString(), tree.toString()).text();
        Path control = tree.resolve("DEBIAN/control");
        Files.writeString(
                control,
                Files.readString(control).replace("Version: " + BuiltPackages.VERSION + "\n", "Version: 0.1.1~test\n"));
        Path newer = folder.resolve("newer.deb");
        PackagingCommand.of("dpkg-deb", "--root-owner-group", "-b", tree.toString(), newer.toString())
                .text();
        return newer;
    }
}
