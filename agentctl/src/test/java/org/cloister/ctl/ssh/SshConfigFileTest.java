package org.cloister.ctl.ssh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.identity.CertificateName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A person's configuration of ssh, which the device's own ssh reads too. */
class SshConfigFileTest {
    private static final String PROJECT = "a".repeat(52);
    private static final String OTHER = "b".repeat(52);

    @TempDir
    private Path home;

    private Path config() {
        return home.resolve(".ssh/config");
    }

    private Path install(String project, String alias, String user) throws IOException {
        SshHostBlock host = new SshHostBlock(
                new CertificateName("main", "controller", project),
                user,
                home.resolve("key"),
                home.resolve("known"),
                List.of("agentctl", "project", "connect"));
        return new SshConfigFile(home.resolve(".ssh")).install(new SshConfigBlock(project, alias, host.render(alias)));
    }

    private String user(String alias) throws Exception {
        Process ssh = new ProcessBuilder("ssh", "-G", "-F", config().toString(), alias)
                .redirectErrorStream(true)
                .start();
        String output = new String(ssh.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(ssh.waitFor(20, TimeUnit.SECONDS)).isTrue();
        return output.lines()
                .filter(line -> line.startsWith("user "))
                .findFirst()
                .orElse(output);
    }

    @Test
    void a_new_file_and_its_folder_are_the_persons_alone() throws Exception {
        install(PROJECT, "cloister", "ada");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(config())))
                .isEqualTo("rw-------");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(home.resolve(".ssh"))))
                .isEqualTo("rwx------");
        assertThat(user("cloister")).isEqualTo("user ada");
    }

    @Test
    void a_later_block_replaces_the_same_projects_and_all_else_stays() throws Exception {
        byte[] others =
                "Compression yes\nHost *.example.org # \u00ff\n    User eve".getBytes(StandardCharsets.ISO_8859_1);
        Files.createDirectory(home.resolve(".ssh"));
        Files.write(config(), others);
        install(PROJECT, "cloister", "ada");
        install(PROJECT, "cloister-out", "ada");
        install(OTHER, "zoo", "zed");
        String once = Files.readString(config(), StandardCharsets.ISO_8859_1);
        assertThat(once).startsWith(new String(others, StandardCharsets.ISO_8859_1) + "\n\n# begin of agentctl");
        install(PROJECT, "cloister", "bob");
        assertThat(Files.readString(config(), StandardCharsets.ISO_8859_1))
                .isEqualTo(once.replaceFirst("User ada", "User bob"));
        assertThat(user("cloister")).isEqualTo("user bob");
        assertThat(user("cloister-out")).isEqualTo("user ada");
        assertThat(user("zoo")).isEqualTo("user zed");
        assertThat(user("a.example.org")).isEqualTo("user eve");
    }

    @Test
    void a_host_that_another_block_has_is_refused_and_nothing_changes() throws Exception {
        install(PROJECT, "cloister", "ada");
        String before = Files.readString(config());
        assertThatThrownBy(() -> install(OTHER, "cloister", "zed"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("line 2")
                .hasMessageContaining("name another host with --host");
        Files.writeString(config(), before + "host=x vm\n");
        assertThatThrownBy(() -> install(OTHER, "vm", "zed")).hasMessageContaining("has Host vm");
        Files.writeString(config(), before.replaceFirst("# end of [^\n]*\n", ""));
        assertThatThrownBy(() -> install(PROJECT, "cloister", "bob"))
                .hasMessageContaining("delete what is left of the block");
        assertThat(config()).hasContent(before.replaceFirst("# end of [^\n]*\n", ""));
    }

    @Test
    void a_link_is_followed_and_stays_and_one_to_nowhere_is_refused() throws Exception {
        Path elsewhere = Files.writeString(home.resolve("dotfiles"), "Compression yes\n");
        Files.createDirectory(home.resolve(".ssh"));
        Files.createSymbolicLink(config(), elsewhere);
        assertThat(install(PROJECT, "cloister", "ada")).isEqualTo(elsewhere.toRealPath());
        assertThat(config()).isSymbolicLink();
        assertThat(Files.readString(elsewhere)).startsWith("Compression yes\n").contains("User ada");
        Files.delete(elsewhere);
        assertThatThrownBy(() -> install(PROJECT, "cloister", "ada"))
                .hasMessageContaining("have a link to " + elsewhere);
        assertThat(elsewhere).doesNotExist();
    }
}
