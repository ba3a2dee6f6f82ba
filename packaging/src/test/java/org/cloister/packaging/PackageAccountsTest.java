package org.cloister.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Verifies the accounts that the packages' sysusers files make, with systemd's own tool in an empty root. */
@Tag("ground")
class PackageAccountsTest {
    private static final String RELAY = "cloister-agent-relay.conf";
    private static final String HOST = "cloister-agent-host.conf";

    @TempDir
    Path root = Path.of("");

    @BeforeEach
    void layOut() throws IOException {
        PackagingCommand.require("systemd-sysusers", "systemd");
        Path folder = Files.createDirectories(root.resolve("usr/lib/sysusers.d"));
        Files.createDirectories(root.resolve("etc/sysusers.d"));
        Path sources = BuiltPackages.ROOT.resolve("systemd");
        Files.copy(sources.resolve("agent-relay.sysusers"), folder.resolve(RELAY));
        Files.copy(sources.resolve("agent-host.sysusers"), folder.resolve(HOST));
    }

    @Test
    void a_host_has_the_same_number_for_the_user_of_jobs_as_the_relays_machine()
            throws IOException, InterruptedException {
        make(HOST);
        assertThat(accounts()).containsExactly("cloister-host 643 643", "cloister-relay 642 642");
        Files.delete(root.resolve("etc/passwd"));
        Files.delete(root.resolve("etc/group"));
        make(RELAY);
        assertThat(accounts()).containsExactly("cloister-relay 642 642");
    }

    @Test
    void both_packages_on_one_machine_do_not_contradict_each_other() throws IOException, InterruptedException {
        assertThat(make()).doesNotContain("onflict");
        assertThat(accounts()).containsExactly("cloister-host 643 643", "cloister-relay 642 642");
    }

    @Test
    void a_file_of_the_same_name_in_etc_decides_the_numbers() throws IOException, InterruptedException {
        Files.writeString(root.resolve("etc/sysusers.d/" + HOST), """
                u cloister-host 850 "Cloister host" /var/lib/cloister/host -
                m cloister-host libvirt
                u cloister-relay 851 "Cloister relay" /var/lib/cloister/relay -
                g cloister -
                """);
        make(HOST);
        assertThat(accounts()).containsExactly("cloister-host 850 850", "cloister-relay 851 851");
    }

    @Test
    void an_account_that_exists_keeps_its_numbers() throws IOException, InterruptedException {
        Files.writeString(
                root.resolve("etc/passwd"),
                "cloister-relay:x:998:997:made by hand:/var/lib/cloister/relay:/usr/sbin/nologin\n");
        Files.writeString(root.resolve("etc/group"), "cloister-relay:x:997:\n");
        make(HOST);
        make(RELAY);
        assertThat(accounts()).containsExactly("cloister-host 643 643", "cloister-relay 998 997");
    }

    @Test
    void the_packages_scripts_let_systemd_find_the_file_that_applies() throws IOException {
        // A path, or --replace, would hide the administrator's file.
        for (String script : List.of("deb/relay/postinst", "rpm/relay/post")) {
            assertThat(script(script)).anyMatch(line -> line.matches("\\s*systemd-sysusers " + RELAY + "( \\|\\| :)?"));
        }
        for (String script : List.of("deb/host/postinst", "rpm/host/post")) {
            assertThat(script(script)).anyMatch(line -> line.matches("\\s*systemd-sysusers " + HOST + "( \\|\\| :)?"));
        }
    }

    private static List<String> script(String name) throws IOException {
        return Files.readAllLines(BuiltPackages.ROOT.resolve("packaging/src/" + name));
    }

    /** Runs as the packages' scripts do, or as at the start of the machine if no file is named. */
    private String make(String... files) throws IOException, InterruptedException {
        return files.length == 0
                ? PackagingCommand.of("systemd-sysusers", "--root=" + root).text()
                : PackagingCommand.of("systemd-sysusers", "--root=" + root, files[0])
                        .text();
    }

    /** Returns name, uid and gid of Cloister's users, sorted. */
    private List<String> accounts() throws IOException {
        return Files.readAllLines(root.resolve("etc/passwd")).stream()
                .map(line -> line.split(":"))
                .filter(fields -> fields[0].startsWith("cloister-"))
                .map(fields -> fields[0] + " " + fields[2] + " " + fields[3])
                .sorted()
                .toList();
    }
}
