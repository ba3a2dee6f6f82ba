package org.cloister.vm.controller.ssh;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.cloister.base.process.ProcessRunner;
import org.cloister.protocol.access.SshPublicKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.vm.system.users.ProjectMember;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class SshSessionTest {
    @TempDir
    private Path folder;

    @Test
    void a_process_that_says_who_it_is_while_its_session_ends_is_ended_too() throws Exception {
        SessionEnvironment place = SessionEnvironment.create(
                ProcessRunner.local(), folder.resolve("key"), folder.resolve("sessions"), folder, folder);
        SshPublicKey key = place.hostKey().key();
        SshSession session = new SshSession(
                place,
                new SshSession.Identity(
                        1,
                        new CertificateName("ada7", CertificateRole.MEMBER.toString(), "a".repeat(52)),
                        CertificateRole.MEMBER,
                        new ProjectMember("ada", 2001, 2001, Optional.of("ada7")),
                        "an id",
                        key),
                event -> {},
                Runnable::run);
        // As slow as a machine that starts many of them.
        Process slow = new ProcessBuilder(
                        List.of("sh", "-c", "cat > read; cd sessions/1 && echo $$ > pid && exec sleep 7778"))
                .directory(folder.toFile())
                .start();
        try {
            SshdLauncher.Streams ends =
                    session.start(() -> new SshdLauncher.Streams(slow.getInputStream(), slow.getOutputStream()));
            session.stop(() -> {
                try {
                    ends.in().close();
                    while (!Files.exists(place.folder().resolve("1/pid"))) {
                        Thread.sleep(5);
                    }
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            assertThat(slow.waitFor(10, TimeUnit.SECONDS))
                    .as("no process of the session is left")
                    .isTrue();
            assertThat(place.folder().resolve("1")).doesNotExist();
        } finally {
            slow.destroyForcibly();
        }
    }
}
