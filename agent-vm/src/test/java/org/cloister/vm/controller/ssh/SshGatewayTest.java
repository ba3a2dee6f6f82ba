package org.cloister.vm.controller.ssh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.access.AccessResponse;
import org.cloister.protocol.access.AccessResponse.Refused;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.audit.AuditField;
import org.cloister.protocol.identity.CertificateRole;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** OpenSSH at both ends, circuits between them, and a login of this machine's. */
@Timeout(300)
class SshGatewayTest extends SingleLoginFixture {
    private static final int BIG = 50 << 20;

    @Test
    void a_member_logs_in_with_the_circuits_key_and_hears_how_a_command_ended() throws Exception {
        try (var call = ada.calls(CertificateRole.MEMBER)) {
            assertThat(call.answer)
                    .isEqualTo(
                            new AccessResponse.Granted(fixture.place.hostKey().key(), "ada"));
            assertThat(fixture.counted("sessions")).isEqualTo(1);
            var ended = call.ssh("id -un; pwd; echo wrong >&2; exit 42");
            assertThat(ended.out()).isEqualTo("ada\n" + fixture.home + "\n");
            assertThat(ended.errors()).isEqualTo("wrong\n");
            assertThat(ended.status()).isEqualTo(42);
        }
        eventually(() -> fixture.gateway.sessionCount() == 0 && isEmpty(fixture.place.folder()));
        assertThat(fixture.counted("sessions")).isZero();
        assertThat(fixture.counted("sessions_begun_total")).isEqualTo(1);
    }

    @Test
    void much_goes_both_ways_whole() throws Exception {
        byte[] big = new byte[BIG];
        new Random(1).nextBytes(big);
        Path here = Files.write(folder.resolve("big"), big);
        try (var call = ada.calls(CertificateRole.MEMBER)) {
            assertThat(call.sftp("put \"" + here + "\" \"in side\"\n").status()).isZero();
        }
        assertThat(Digest.sha256(Files.readAllBytes(fixture.home.resolve("in side"))))
                .isEqualTo(Digest.sha256(big));
        try (var call = ada.calls(CertificateRole.EXPORTER)) {
            var ended = call.sftp("get \"in side\" \"" + folder.resolve("back") + "\"\n");
            assertThat(ended.status()).as(ended.errors()).isZero();
        }
        assertThat(Digest.sha256(Files.readAllBytes(folder.resolve("back")))).isEqualTo(Digest.sha256(big));
        AuditEvent sent = kind("export.sent").get(0);
        assertThat(sent.facts()).containsEntry(AuditField.BYTES, (long) BIG);
        assertThat(fixture.counted("exported_files_total")).isEqualTo(1);
        assertThat(fixture.counted("exported_bytes_total")).isEqualTo(BIG);
    }

    @Test
    void an_end_of_input_reaches_a_command_that_still_answers() throws Exception {
        try (var call = ada.calls(CertificateRole.MEMBER)) {
            Path input = Files.write(folder.resolve("input"), new byte[3_000_000]);
            List<String> argv = new ArrayList<>(List.of("ssh"));
            argv.addAll(call.options(call.identity()));
            argv.addAll(List.of("-p", String.valueOf(call.port()), "ada@127.0.0.1", "wc -c; sleep 1; echo late"));
            Process ssh = new ProcessBuilder(argv).redirectInput(input.toFile()).start();
            assertThat(new String(ssh.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .isEqualTo("3000000\nlate\n");
            assertThat(ssh.waitFor(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void another_persons_key_opens_no_session_and_nobody_is_another_login() throws Exception {
        try (var other = ada.calls(CertificateRole.MEMBER);
                var call = ada.calls(CertificateRole.MEMBER)) {
            var unknown = call.sshWith(other.identity(), "ada", "id");
            assertThat(unknown.status()).isEqualTo(255);
            assertThat(unknown.errors()).contains("Permission denied (publickey)");
        }
        try (var call = ada.calls(CertificateRole.MEMBER)) {
            assertThat(call.sshWith(call.identity(), "root", "id").errors()).contains("Permission denied");
        }
    }

    @Test
    void who_is_no_member_hears_it() throws Exception {
        try (var call = fixture.new Person("eve9", CertificateRole.MEMBER).calls(CertificateRole.MEMBER)) {
            assertThat(call.answer).isInstanceOfSatisfying(Refused.class, refused -> {
                assertThat(refused.word()).isEqualTo(Refused.MEMBER);
                assertThat(refused.text()).contains("eve9");
            });
            assertThat(call.circuit.channel().closeFuture().await(20, TimeUnit.SECONDS))
                    .as("it ends though its opener stays")
                    .isTrue();
        }
        assertThat(fixture.counted("refused_member_total")).isEqualTo(1);
        assertThatThrownBy(() -> fixture.new Person("cat5", CertificateRole.OPENER).calls(CertificateRole.OPENER))
                .isInstanceOf(IllegalStateException.class);
        assertThat(fixture.gateway.sessionCount()).isZero();
    }

    @Test
    void a_person_has_so_many_sessions_and_one_that_ended_makes_room() throws Exception {
        List<SshGatewayFixture.SshCircuit> calls = new ArrayList<>();
        for (int i = 0; i < SshGateway.MAX_SESSIONS_PER_PERSON; i++) {
            calls.add(ada.calls(CertificateRole.MEMBER));
            assertThat(calls.get(i).answer).isInstanceOf(AccessResponse.Granted.class);
        }
        try (var call = ada.calls(CertificateRole.MEMBER)) {
            assertThat(call.answer)
                    .isInstanceOfSatisfying(
                            Refused.class, refused -> assertThat(refused.word()).isEqualTo(Refused.SESSIONS));
        }
        assertThat(fixture.counted("refused_sessions_total")).isEqualTo(1);
        calls.get(0).close();
        eventually(() -> fixture.gateway.sessionCount() < SshGateway.MAX_SESSIONS_PER_PERSON);
        try (var call = ada.calls(CertificateRole.MEMBER)) {
            assertThat(call.answer).isInstanceOf(AccessResponse.Granted.class);
        }
        for (var call : calls) {
            call.close();
        }
    }

    @Test
    void a_revoked_persons_session_ends_and_what_was_detached_goes_on() throws Exception {
        try (var call = ada.calls(CertificateRole.MEMBER)) {
            var running =
                    running(call, "sleep 7771 & setsid sleep 7772 & nohup sleep 7773 >/dev/null 2>&1 & touch up; wait");
            eventually(() -> Files.exists(fixture.home.resolve("up")) && processes("sleep 777[123]") == 3);
            fixture.revoke(ada);
            assertThat(running.get(20, TimeUnit.SECONDS).status()).isEqualTo(255);
            assertThat(call.ended.get(5, TimeUnit.SECONDS)).isNotEqualTo("said all");
        }
        eventually(() -> fixture.gateway.sessionCount() == 0);
        try {
            assertThat(processes("sleep 7771")).isZero();
            assertThat(processes("sleep 7772")).isEqualTo(1);
            assertThat(processes("sleep 7773")).isEqualTo(1);
        } finally {
            new ProcessBuilder("pkill", "-u", String.valueOf(SshGatewayFixture.UID), "-x", "sleep")
                    .start()
                    .waitFor();
        }
        assertThatThrownBy(() -> ada.calls(CertificateRole.MEMBER)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void a_withheld_list_ends_its_signers_sessions_and_the_next_one_lets_them_come_back() throws Exception {
        try (var call = ada.calls(CertificateRole.MEMBER)) {
            var running = running(call, "touch up; sleep 7775");
            eventually(() -> Files.exists(fixture.home.resolve("up")));
            fixture.deliver(2, Duration.ofHours(1));
            fixture.passed = Duration.ofHours(1);
            assertThatThrownBy(() -> call.ended.get(2, TimeUnit.SECONDS)).isInstanceOf(TimeoutException.class);
            fixture.passed = Duration.ofHours(1).plusSeconds(1);
            assertThat(running.get(20, TimeUnit.SECONDS).status()).isEqualTo(255);
            assertThat(call.ended.get(5, TimeUnit.SECONDS)).isNotEqualTo("said all");
        }
        eventually(() -> fixture.gateway.sessionCount() == 0);
        assertThatThrownBy(() -> ada.calls(CertificateRole.MEMBER)).isInstanceOf(IllegalStateException.class);
        fixture.deliver(3, Duration.ofHours(1));
        try (var call = ada.calls(CertificateRole.MEMBER)) {
            assertThat(call.ssh("true").status()).isZero();
        }
    }

    @Test
    void an_sshd_that_dies_ends_the_circuit() throws Exception {
        try (var call = ada.calls(CertificateRole.MEMBER)) {
            var running = running(call, "touch up; sleep 7774");
            eventually(() -> Files.exists(fixture.home.resolve("up")));
            long pid = Long.parseLong(
                    Files.readString(fixture.place.folder().resolve("1/pid")).strip());
            ProcessHandle sshd = ProcessHandle.of(pid).orElseThrow();
            List<ProcessHandle> all = new ArrayList<>(sshd.descendants().toList());
            sshd.destroyForcibly();
            all.forEach(ProcessHandle::destroyForcibly);
            assertThat(running.get(20, TimeUnit.SECONDS).status()).isEqualTo(255);
        }
        eventually(() -> fixture.gateway.sessionCount() == 0 && isEmpty(fixture.place.folder()));
    }

    @Test
    void an_agent_that_dies_takes_its_sshd_with_it() throws Exception {
        Path other = Files.createDirectory(folder.resolve("other"));
        Process agent = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        KilledAgentProcess.class.getName(),
                        other.toString())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("agent.log").toFile())
                .start();
        Path shell = other.resolve("homes/ada/shell");
        eventually(() -> Files.exists(shell) && !Files.readString(shell).isBlank());
        long pid =
                Long.parseLong(Files.readString(other.resolve("sessions/1/pid")).strip());
        ProcessHandle sshd = ProcessHandle.of(pid).orElseThrow();
        ProcessHandle users = ProcessHandle.of(
                        Long.parseLong(Files.readString(shell).strip()))
                .orElseThrow();
        List<ProcessHandle> all = new ArrayList<>(sshd.descendants().toList());
        all.remove(users);
        agent.destroyForcibly().waitFor();
        try {
            eventually(() -> !sshd.isAlive() && all.stream().noneMatch(ProcessHandle::isAlive));
        } finally {
            users.destroyForcibly();
        }
    }

    @Test
    void a_member_puts_and_does_not_take_and_hears_who_may() throws Exception {
        Files.writeString(folder.resolve("data"), "data\n");
        try (var call = ada.calls(CertificateRole.MEMBER)) {
            assertThat(call.rsync(folder.resolve("data").toString(), "ada@127.0.0.1:sent")
                            .status())
                    .isZero();
        }
        assertThat(fixture.home.resolve("sent")).hasContent("data\n");
        try (var call = ada.calls(CertificateRole.MEMBER)) {
            var got = call.sftp("get sent " + folder.resolve("back") + "\n");
            assertThat(got.status()).isNotZero();
            assertThat(got.errors()).contains("Permission denied");
        }
        assertThat(Files.exists(folder.resolve("back")) ? Files.size(folder.resolve("back")) : 0)
                .isZero();
        try (var call = ada.calls(CertificateRole.MEMBER)) {
            var got = call.rsync("ada@127.0.0.1:sent", folder.resolve("back").toString());
            assertThat(got.status()).isNotZero();
            assertThat(got.errors())
                    .contains("rsync takes data out of the project, which only the role exporter permits");
        }
        try (var call = ada.calls(CertificateRole.MEMBER)) {
            assertThat(call.ssh("scp -f sent").errors()).contains("only the role exporter permits");
        }
        assertThat(fixture.records).isEmpty();
    }

    @Test
    void an_exporter_takes_files_by_rsync_and_each_is_recorded() throws Exception {
        Path tree = Files.createDirectories(fixture.home.resolve("tree/sub"));
        Files.writeString(tree.resolve("a b"), "one");
        Files.writeString(tree.resolve("new\nline"), "three");
        try (var call = ada.calls(CertificateRole.EXPORTER)) {
            var ended = call.rsync(
                    "ada@127.0.0.1:" + fixture.home.resolve("tree"),
                    folder.resolve("out").toString());
            assertThat(ended.status()).as(ended.errors()).isZero();
        }
        assertThat(folder.resolve("out/tree/sub/a b")).hasContent("one");
        eventually(() -> kind("export.ended").size() == 1);
        assertThat(kind("export.opened"))
                .extracting(each -> each.facts().get(AuditField.PATH))
                .containsExactly(fixture.home.resolve("tree").toString());
        assertThat(kind("export.sent"))
                .extracting(each -> each.facts().get(AuditField.PATH))
                .contains(tree + "/a%20b", tree + "/new%0Aline");
        assertThat(kind("export.ended").get(0).facts())
                .containsEntry(AuditField.BYTES, 8L)
                .containsEntry(AuditField.LOGIN, "ada")
                .containsEntry(AuditField.PERSON, "ada7.exporter." + fixture.project + ".cloister.internal");
    }

    @Test
    void an_exporter_has_no_shell_and_runs_nothing_of_the_logins() throws Exception {
        Files.writeString(fixture.home.resolve(".bashrc"), "touch " + fixture.home.resolve("ran") + "; echo secret\n");
        Files.createDirectories(fixture.home.resolve(".ssh"));
        Files.writeString(fixture.home.resolve(".ssh/rc"), "touch " + fixture.home.resolve("ran") + "\n");
        for (String command : List.of("id", "rsync --server --sender -logDtpre.iLsfxC . $(id)", "cat .bashrc", "")) {
            try (var call = ada.calls(CertificateRole.EXPORTER)) {
                var ended = call.ssh(command);
                assertThat(ended.status()).as(command).isEqualTo(77);
                assertThat(ended.out()).as(command).isEmpty();
                assertThat(ended.errors()).as(command).contains("as a member");
            }
        }
        assertThat(fixture.home.resolve("ran")).doesNotExist();
    }

    @Test
    void nothing_goes_out_that_is_not_recorded() throws Exception {
        Files.writeString(fixture.home.resolve("data"), "data\n");
        fixture.recordFails = true;
        try (var call = ada.calls(CertificateRole.EXPORTER)) {
            assertThat(call.answer)
                    .isInstanceOfSatisfying(
                            Refused.class, refused -> assertThat(refused.word()).isEqualTo(Refused.RECORD));
        }
        fixture.recordFails = false;
        try (var call = ada.calls(CertificateRole.EXPORTER)) {
            fixture.recordFails = true;
            assertThat(call.sftp("get data " + folder.resolve("back") + "\n").status())
                    .isNotZero();
        }
        assertThat(Files.exists(folder.resolve("back")) ? Files.size(folder.resolve("back")) : 0)
                .isZero();
    }

    private List<AuditEvent> kind(String kind) {
        return fixture.records.stream().filter(each -> each.kind().equals(kind)).toList();
    }

    private static long processes(String pattern) throws Exception {
        Process pgrep = new ProcessBuilder("pgrep", "-cxf", pattern).start();
        return Long.parseLong(new String(pgrep.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip());
    }

    private static boolean isEmpty(Path folder) throws Exception {
        try (var entries = Files.list(folder)) {
            return entries.findAny().equals(Optional.empty());
        }
    }

    private interface Condition {
        boolean now() throws Exception;
    }

    private static void eventually(Condition holds) throws Exception {
        for (int i = 0; i < 400 && !holds.now(); i++) {
            Thread.sleep(50);
        }
        assertThat(holds.now()).isTrue();
    }

    private static CompletableFuture<ExitResult> running(SshGatewayFixture.SshCircuit call, String line) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return call.ssh(line);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
    }
}
