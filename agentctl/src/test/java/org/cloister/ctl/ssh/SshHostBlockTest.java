package org.cloister.ctl.ssh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.identity.CertificateName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads the Host block with the device's own ssh and sftp. */
class SshHostBlockTest {
    private static final CertificateName VM = new CertificateName("main", "controller", "a".repeat(52));

    @TempDir
    private Path folder;

    private String run(String input, String... command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try (var in = process.getOutputStream()) {
            in.write(input.getBytes(StandardCharsets.UTF_8));
        }
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output;
    }

    @Test
    void ssh_reads_the_block_as_it_was_meant() throws Exception {
        SshHostBlock host = new SshHostBlock(
                VM,
                "ada",
                folder.resolve("a key"),
                folder.resolve("known_hosts-main"),
                List.of("agentctl", "project", "connect", "--site", "/it's 100%/site.pem"));
        Path config = Files.writeString(folder.resolve("config"), host.render("vm"));
        assertThat(run("", "ssh", "-G", "-F", config.toString(), "vm").lines())
                .contains(
                        "user ada",
                        "hostname " + VM,
                        "hostkeyalias " + VM,
                        "identityfile " + folder.resolve("a key"),
                        "identitiesonly yes",
                        "userknownhostsfile " + folder.resolve("known_hosts-main"),
                        "stricthostkeychecking true",
                        "updatehostkeys false",
                        "connecttimeout 180",
                        "serveraliveinterval 300",
                        "serveralivecountmax 3",
                        "proxycommand agentctl project connect --site '/it'\\''s 100%%/site.pem'");
    }

    @Test
    void paths_with_whatever_is_in_them_are_copied_as_they_are() throws Exception {
        Path server = Path.of("/usr/lib/openssh/sftp-server");
        assumeTrue(Files.isExecutable(server), "no sftp-server here");
        Path tree = Files.createDirectories(folder.resolve("tr ee/[s]ub"));
        Files.writeString(tree.resolve("a \"b\" *?\\"), "one");
        Path target = folder.resolve("tar get");
        run(
                SftpTransfer.batchCommands(
                        "put", List.of(folder.resolve("tr ee").toString()), target.toString(), false),
                "sftp",
                "-b",
                "-",
                "-D",
                server.toString());
        assertThat(target.resolve("[s]ub/a \"b\" *?\\")).hasContent("one");
        Path back = folder.resolve("back");
        run(
                SftpTransfer.batchCommands(
                        "get", List.of(target.resolve("[s]ub/a \"b\" *?\\").toString()), back.toString(), false),
                "sftp",
                "-b",
                "-",
                "-D",
                server.toString());
        assertThat(back).hasContent("one");
    }

    @Test
    void a_name_that_would_be_a_command_of_its_own_is_refused() {
        for (String bad : List.of("", "a\n!id", "a\tb", "\u001b")) {
            assertThatThrownBy(() -> SftpTransfer.sftpQuote(bad)).isInstanceOf(IOException.class);
        }
    }
}
