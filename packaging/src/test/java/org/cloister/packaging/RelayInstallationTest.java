package org.cloister.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** In a Debian root that has systemd and does not run it, as in a container or an image that is being built. */
@Tag("ground")
@Tag("packages")
@Tag("scenario")
class RelayInstallationTest {
    private static final String LAUNCHER = "/usr/libexec/cloister/agent-relay";
    private static final String CONFIG = "/etc/cloister/agent-relay.toml";
    private static final int IDLE_KIB = 96 * 1024;
    /** As an operator does it: the site's CA on one machine, here the same, and what it answers on the relay's. */
    private static final String ENROL = """
            set -e
            cd /root && umask 077
            echo 'a passphrase of a test' > pass
            agentctl site init --site ca --key ca.key --secret-fd 3 3< pass
            agentctl site enrol --site ca --key ca.key --role relay --token token --secret-fd 3 r1 3< pass
            agentctl site request --machine-key relay.key --out request --role relay --token token r1
            agentctl site issue --site ca --key ca.key --secret-fd 3 request 3< pass
            state=/var/lib/cloister/relay
            install -o cloister-relay -g cloister-relay -m 0600 relay.key $state/relay.key
            install -o cloister-relay -g cloister-relay -m 0600 request.pem $state/relay.pem
            install -m 0644 ca/authority.pem /etc/cloister/site.pem
            sed -i 's/^#listen = .*/listen = "127.0.0.1:0"/' /etc/cloister/agent-relay.toml
            """;
    /** As the unit does it, on two CPUs: what more of them cost is the threads' own. */
    private static final String SERVE = """
            install -o cloister-relay -g cloister-relay -m 0750 -d /run/cloister/relay
            taskset -c 0,1 setpriv --reuid cloister-relay --regid cloister-relay --clear-groups --no-new-privs \\
                /usr/libexec/cloister/agent-relay /etc/cloister/agent-relay.toml > /tmp/said 2>&1 &
            until agentctl relay status > /tmp/status 2>&1; do
                kill -0 $! || { cat /tmp/said; exit 1; }
            done
            cat /tmp/status
            sed -n 's/^VmRSS:/resident/p' /proc/$!/status
            kill $!
            wait $! || echo "ended with $?"
            rm -r /run/cloister
            """;
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
            root.text("dpkg", "--install", root.give(Packages.RELAY_DEB));
            assertInstalled(root);
            root.text("sh", "-c", "echo key > /var/lib/cloister/relay/relay.key; echo '# mine' >> " + CONFIG);

            root.text("dpkg", "--install", root.give(newer()));
            assertThat(root.text("dpkg-query", "-W", "-f", "${Version}", "cloister-agent-relay"))
                    .isEqualTo("0.1.1~test");
            assertThat(root.text("tail", "-n", "1", CONFIG)).isEqualTo("# mine\n");
            root.text("dpkg", "--remove", "cloister-agent-relay");
            assertThat(root.has(CONFIG)).as("configuration after removal").isTrue();
            assertThat(root.has("/var/lib/cloister/relay/relay.key"))
                    .as("key after removal")
                    .isTrue();
            root.text("dpkg", "--purge", "cloister-agent-relay");
            assertThat(root.changesSince(before, NOT_OURS)).isEmpty();
            assertThat(root.text("getent", "passwd", "cloister-relay")).contains("/usr/sbin/nologin");
        }
    }

    @Test
    void the_rpm_is_installed_and_erased() throws IOException, InterruptedException {
        try (CleanRoot root = CleanRoot.unpack("systemd")) {
            rpm(root, "--initdb");
            Files.createDirectories(root.path.resolve("usr/share/licenses"));
            Map<String, String> before = root.contents(NOT_OURS);
            rpm(root, "--install --nodeps " + Packages.RELAY_RPM);
            assertInstalled(root);
            assertThat(rpm(root, "--verify --nodeps cloister-agent-relay")).isEmpty();
            rpm(root, "--erase cloister-agent-relay");
            // Keys and what they signed for are the operator's to remove.
            root.text("rm", "-r", "/var/lib/cloister");
            assertThat(root.changesSince(before, NOT_OURS)).isEmpty();
        }
    }

    @Test
    void an_enrolled_relay_serves_as_its_user_and_is_small_while_idle() throws IOException, InterruptedException {
        try (CleanRoot root = CleanRoot.unpack("systemd")) {
            root.text("dpkg", "--install", root.give(Packages.RELAY_DEB), root.give(Packages.DEB));
            Command.Result early = root.run(LAUNCHER, CONFIG);
            assertThat(early.status()).as(early.text()).isEqualTo(1);
            assertThat(early.text()).contains("/etc/cloister/site.pem: no such file; enrol the relay");

            root.text("sh", "-c", ENROL);
            String said = root.text("sh", "-c", SERVE);
            System.out.println(said);
            assertThat(said).contains("r1.relay.site.cloister.internal").contains("ended with 143");
            Matcher resident = Pattern.compile("resident\\s+(\\d+) kB").matcher(said);
            assertThat(resident.find()).as(said).isTrue();
            assertThat(Integer.parseInt(resident.group(1))).as("KiB resident").isLessThan(IDLE_KIB);
        }
    }

    private static void assertInstalled(CleanRoot root) throws IOException, InterruptedException {
        assertThat(root.text("getent", "passwd", "cloister-relay")).contains("/usr/sbin/nologin");
        assertThat(root.text("stat", "-c", "%a %U %G", CONFIG, "/var/lib/cloister/relay")
                        .lines())
                .containsExactly("644 root root", "700 cloister-relay cloister-relay");
        assertThat(root.text(LAUNCHER, "--check", CONFIG)).isEmpty();
        root.text("sh", "-c", "echo 'listn = 1' > /tmp/wrong.toml");
        Command.Result wrong = root.run(LAUNCHER, "--check", "/tmp/wrong.toml");
        assertThat(wrong.status()).as(wrong.text()).isEqualTo(78);
        assertThat(wrong.text()).contains("wrong.toml:1").contains("listn");
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
        Command.of("dpkg-deb", "-R", Packages.RELAY_DEB.toString(), tree.toString())
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
