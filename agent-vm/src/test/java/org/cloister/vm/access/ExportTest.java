package org.cloister.vm.access;

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
import org.cloister.protocol.access.SshKey;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.handover.BootWorld;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.vm.users.Member;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The pipes of an exporter's session, and who besides its own programs comes to them. */
@Timeout(120)
class ExportTest {
    private static final Member ADA = new Member("ada", AccessWorld.UID, AccessWorld.UID, Optional.of("ada7"));

    @TempDir
    private Path folder;

    private AccessWorld world;
    private Session session;
    private final List<AuditEvent> records = new CopyOnWriteArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();

    @BeforeEach
    void begin() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "a login of somebody else is root's to give");
        world = new AccessWorld(folder);
        Files.writeString(world.home.resolve("data"), "data\n");
        VerificationKey key = SigningKey.of(BootWorld.pair(Curve.P384)).verificationKey();
        Name ada = new Name("ada7", Role.EXPORTER.toString(), world.project);
        session = new Session(
                world.place,
                new Session.Who(1, ada, Role.EXPORTER, ADA, key.id(), SshKey.of(key)),
                records::add,
                threads);
        session.begin(() -> new Launcher.Ends(InputStream.nullInputStream(), OutputStream.nullOutputStream()));
    }

    @AfterEach
    void end() throws IOException {
        if (world != null) {
            session.end(() -> {});
            world.close();
        }
        threads.shutdownNow();
    }

    private OutputStream ask() throws IOException {
        OutputStream ask = Files.newOutputStream(session.pipe(Session.ASK), StandardOpenOption.WRITE);
        ask.write(("rsync --server --sender -logDtpre.iLsfxC . " + world.home + "\n")
                .getBytes(StandardCharsets.US_ASCII));
        return ask;
    }

    private InputStream answer() throws IOException {
        return Files.newInputStream(session.pipe(Session.ANSWER));
    }

    /** How a process of the exporter's other session ends. */
    private int other(String script) throws Exception {
        String id = String.valueOf(AccessWorld.UID);
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
                        session.pipe(Session.LOG).toString())
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
                            session.pipe(Session.LOG).toString())
                    .start()
                    .waitFor();
            assertThat(left).succeedsWithin(20, TimeUnit.SECONDS);
            ask.flush();
        }
        // The answer is closed before the end is recorded.
        session.end(() -> {});
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
        session.end(() -> {});
        threads.shutdown();
        assertThat(threads.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
    }
}
