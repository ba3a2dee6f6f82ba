package org.cloister.vm.controller.ssh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.access.SshPublicKey;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.vm.system.users.ProjectMember;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The pipes of an exporter's session, and who besides its own programs comes to them. */
@Timeout(120)
class ExportSessionTest {
    private static final ProjectMember ADA =
            new ProjectMember("ada", SshGatewayFixture.UID, SshGatewayFixture.UID, Optional.of("ada7"));

    @TempDir
    private Path folder;

    private SshGatewayFixture fixture;
    private SshSession session;
    private final List<AuditEvent> records = new CopyOnWriteArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @BeforeEach
    void setUp() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "a login of somebody else is root's to give");
        fixture = new SshGatewayFixture(folder);
        Files.writeString(fixture.home.resolve("data"), "data\n");
        VerificationKey key =
                SigningKey.of(BootFixture.pair(SignatureCurve.P384)).verificationKey();
        CertificateName ada = new CertificateName("ada7", CertificateRole.EXPORTER.toString(), fixture.project);
        session = new SshSession(
                fixture.place,
                new SshSession.Identity(1, ada, CertificateRole.EXPORTER, ADA, key.id(), SshPublicKey.of(key)),
                records::add,
                threads);
        session.start(() -> new SshdLauncher.Streams(InputStream.nullInputStream(), OutputStream.nullOutputStream()));
    }

    @AfterEach
    void tearDown() throws IOException {
        if (fixture != null) {
            session.stop(() -> {});
            fixture.close();
        }
        threads.shutdownNow();
    }

    private OutputStream ask() throws IOException {
        OutputStream ask = Files.newOutputStream(session.pipe(SshSession.REQUEST_PIPE), StandardOpenOption.WRITE);
        ask.write(("rsync --server --sender -logDtpre.iLsfxC . " + fixture.home + "\n")
                .getBytes(StandardCharsets.US_ASCII));
        return ask;
    }

    private InputStream answer() throws IOException {
        return Files.newInputStream(session.pipe(SshSession.RESPONSE_PIPE));
    }

    /** How a process of the exporter's other session ends. */
    private int other(String script) throws Exception {
        String id = String.valueOf(SshGatewayFixture.UID);
        return new ProcessBuilder(
                        "setpriv",
                        "--reuid=" + id,
                        "--regid=" + id,
                        "--clear-groups",
                        "timeout",
                        "5",
                        "sh",
                        "-c",
                        script,
                        "sh",
                        session.pipe(SshSession.LOG_PIPE).toString())
                .start()
                .waitFor();
    }

    @Test
    void a_log_without_an_end_of_line_ends_the_session_and_is_not_kept() throws Exception {
        try (OutputStream ask = ask();
                InputStream answer = answer()) {
            assertThat(answer.readNBytes(3)).asString(StandardCharsets.US_ASCII).isEqualTo("ok\n");
            CompletableFuture<Integer> left = CompletableFuture.supplyAsync(
                    () -> {
                        try {
                            return answer.readAllBytes().length;
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    },
                    threads);
            // It may break off: nobody reads so much.
            new ProcessBuilder(
                            "sh",
                            "-c",
                            "head -c 1048576 /dev/zero >\"$1\"",
                            "sh",
                            session.pipe(SshSession.LOG_PIPE).toString())
                    .start()
                    .waitFor();
            assertThat(left).succeedsWithin(20, TimeUnit.SECONDS);
            ask.flush();
        }
        // The answer is closed before the end is recorded.
        session.stop(() -> {});
        assertThat(records).last().extracting(AuditEvent::kind).isEqualTo("export.ended");
    }

    @Test
    void nobody_but_its_rsync_has_a_part_in_the_log() throws Exception {
        try (OutputStream ask = ask();
                InputStream answer = answer()) {
            assertThat(answer.readNBytes(3)).asString(StandardCharsets.US_ASCII).isEqualTo("ok\n");
            assertThat(other("exec cat <\"$1\"")).as("a reader").isNotIn(0, 124);
            assertThat(other("echo forged >\"$1\"")).as("a writer").isNotIn(0, 124);
            assertThat(other("chmod 666 \"$1\"")).as("an owner").isNotZero();
            ask.flush();
        }
    }

    @Test
    void a_client_that_goes_before_its_rsync_has_opened_the_log_leaves_no_thread() throws Exception {
        try (OutputStream ask = ask()) {
            answer().close();
            ask.flush();
        }
        session.stop(() -> {});
        threads.shutdown();
        assertThat(threads.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
    }
}
