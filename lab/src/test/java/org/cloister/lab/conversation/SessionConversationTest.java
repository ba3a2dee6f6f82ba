package org.cloister.lab.conversation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.protobuf.ByteString;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.cloister.ctl.Cli;
import org.cloister.ctl.PersonFixture;
import org.cloister.lab.SampledScenario;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.transport.circuit.FaultyPath;
import org.cloister.transport.circuit.PathFault;
import org.cloister.transport.circuit.PathFault.Direction;
import org.cloister.transport.circuit.PathFault.Kind;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * agentctl with OpenSSH and a controlling VM's agent with sshd, each as it is, over circuits of which each loses a record or is cut
 * in front of one or behind one: a person has the whole session, or agentctl says that the circuit broke; the VM admits nobody before
 * it knows who it is, and keeps nothing of a session that has ended. Where a circuit has SSH in it places are drawn;
 * {@code -Dcloister.sweep.all=true} leaves none out, {@code -Dcloister.seed} repeats.
 */
@Tag("boundary")
@SampledScenario(value = 1, cases = 3)
@Timeout(1200)
@SuppressWarnings("NullAway") // what is missing shows as a failed test
class SessionConversationTest extends PersonFixture {
    private static final int LANES = 4;
    /** Of the places of a circuit with SSH in it. */
    private static final int DRAWN = 32;
    /** An empty record of TLS 1.3, which nobody misses (RFC 8446, D.4). */
    private static final int CHANGE_CIPHER_SPEC = 1;

    /** What agentctl says of a circuit that broke. */
    private static final Pattern BROKE =
            Pattern.compile("agentctl: error: circuit from \\S+ to \\S+: (relay|opener|target) [a-z-]+\n");

    private static final ByteString DATA = data();
    private static final Random RANDOM = new Random(seed());

    @TempDir
    static Path machines;

    private static final List<Lane> LANE = new ArrayList<>();
    private static final Queue<String> UNCAUGHT = new ConcurrentLinkedQueue<>();
    private static ExecutorService threads;
    private static Set<ProcessHandle> before;

    /** A VM and a device that reaches it, for one session after the other. */
    private static final class Lane implements AutoCloseable {
        final Way way = new Way();
        final SimulatedSessionVm vm;
        final Path folder;
        private final OpenSshClient member;
        private final OpenSshClient exporter;

        Lane(Path folder, TlsCredential own) throws Exception {
            this.folder = folder;
            this.vm = new SimulatedSessionVm(folder, way.relay(), host(), own, believed(), controller(), PERSON).boot();
            this.member = openSsh(CertificateRole.MEMBER);
            this.exporter = openSsh(CertificateRole.EXPORTER);
            Files.write(vm.home.resolve("data"), DATA.toByteArray());
        }

        private OpenSshClient openSsh(CertificateRole role) throws Exception {
            Cli.Result result = way.run(role, "ssh-config", "--host", "vm");
            assertThat(result.err()).isEmpty();
            return new OpenSshClient(
                    folder, Files.writeString(folder.resolve(role + ".config"), result.out()), threads);
        }

        List<String> records() {
            return vm.records.stream().map(AuditEvent::kind).toList();
        }

        @Override
        public void close() {
            vm.close();
            way.close();
        }
    }

    /** Result of a session. */
    private record SessionResult(boolean whole, Cli.Result agentctl) {}

    private interface Conversation {
        SessionResult hold(Lane lane) throws Exception;
    }

    /** One path, and how many records had come to the VM when it admitted somebody. */
    private record Met(FaultyPath path, int proof) {}

    private static ByteString data() {
        byte[] data = new byte[40_000];
        new Random(1).nextBytes(data);
        return ByteString.copyFrom(data);
    }

    private static long seed() {
        String property = System.getProperty("cloister.seed", "");
        long seed = property.isEmpty() ? ThreadLocalRandom.current().nextLong() : Long.parseLong(property);
        System.out.println("faults of sessions: CLOISTER_SEED=" + seed);
        return seed;
    }

    @BeforeAll
    static void setUp() throws Exception {
        assumeTrue("root".equals(System.getProperty("user.name")), "a login of somebody else is root's to give");
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> UNCAUGHT.add(thread.getName() + ": " + e));
        before = ProcessHandle.current().children().collect(Collectors.toSet());
        threads = Executors.newCachedThreadPool();
        // Logins pass through it.
        Files.setPosixFilePermissions(machines, PosixFilePermissions.fromString("rwx--x--x"));
        TlsCredential own = certified();
        for (int i = 0; i < LANES; i++) {
            LANE.add(new Lane(Files.createDirectory(machines.resolve("lane-" + i)), own));
        }
    }

    @AfterAll
    static void tearDown() {
        LANE.forEach(Lane::close);
        LANE.clear();
        if (threads != null) {
            threads.shutdownNow();
        }
        Thread.setDefaultUncaughtExceptionHandler(null);
    }

    @AfterEach
    void nothingIsLeft() throws InterruptedException {
        for (int i = 0; i < 1000 && !started().isEmpty(); i++) {
            Thread.sleep(10);
        }
        assertThat(started()).isEmpty();
        assertThat(UNCAUGHT).as("what a person would see as a stack trace").isEmpty();
    }

    /** Returns our processes, without those of the labs that other classes of the same run keep. */
    private static Set<ProcessHandle> started() {
        Set<ProcessHandle> found = ProcessHandle.current().children().collect(Collectors.toSet());
        found.removeAll(before);
        return found;
    }

    /** @param proof how many records to the VM show who comes */
    private static Met runLane(Lane lane, Optional<PathFault> fault, int proof, Conversation conversation)
            throws Exception {
        FaultyPath path = new FaultyPath(fault);
        AtomicInteger admitted = new AtomicInteger();
        lane.vm.sessionsStarted.set(0);
        lane.vm.records.clear();
        lane.vm.admitted = () -> admitted.set(path.records(Direction.TO_TARGET));
        lane.way.by(path);
        SessionResult result = conversation.hold(lane);
        lane.vm.awaitIdle();
        assertThat(result.whole || path.happened())
                .as("whole where nothing happened")
                .isTrue();
        assertThat(result.whole || result.agentctl.status() == 2)
                .as("agentctl: %s", result.agentctl)
                .isTrue();
        if (result.agentctl.status() == 0) {
            assertThat(result.agentctl.err()).isEmpty();
        } else {
            assertThat(result.agentctl.err()).matches(BROKE);
        }
        boolean unproved = fault.filter(each -> each.direction() == Direction.TO_TARGET
                        && each.record() < proof
                        && each.kind() != Kind.CUT_AFTER
                        && !(each.kind() == Kind.SKIP && each.record() == CHANGE_CIPHER_SPEC))
                .isPresent();
        assertThat(lane.vm.sessionsStarted).as("sessions").hasValueLessThanOrEqualTo(unproved ? 0 : 1);
        return new Met(path, admitted.get());
    }

    /** @param most of the places */
    private static void sweep(int most, Conversation conversation) throws Exception {
        Met sound = runLane(LANE.get(0), Optional.empty(), 0, conversation);
        assertThat(sound.proof).as("records of a proof").isGreaterThan(2);
        List<PathFault> all = new ArrayList<>(
                PathFault.all(sound.path.records(Direction.TO_TARGET), sound.path.records(Direction.TO_OPENER)));
        Collections.shuffle(all, RANDOM);
        boolean whole = Boolean.getBoolean("cloister.sweep.all");
        Queue<PathFault> faults =
                new ConcurrentLinkedQueue<>(all.subList(0, whole ? all.size() : Math.min(most, all.size())));
        int number = faults.size();
        AtomicInteger happened = new AtomicInteger();
        Queue<AssertionError> failures = new ConcurrentLinkedQueue<>();
        List<Callable<Void>> lanes = new ArrayList<>();
        for (Lane lane : LANE) {
            lanes.add(() -> {
                for (PathFault each = faults.poll(); each != null; each = faults.poll()) {
                    try {
                        Met met = runLane(lane, Optional.of(each), sound.proof, conversation);
                        happened.addAndGet(met.path.happened() ? 1 : 0);
                    } catch (Exception | AssertionError e) {
                        failures.add(new AssertionError(each + ": " + e.getMessage(), e));
                    }
                }
                return null;
            });
        }
        for (Future<Void> each : threads.invokeAll(lanes)) {
            each.get();
        }
        assertThat(failures).isEmpty();
        // What is written at once is one record, so that one session has some more than another.
        assertThat(happened).as("of %s faults", number).hasValueGreaterThan(number * 2 / 3);
    }

    private static SessionResult login(Lane lane) throws Exception {
        Cli.Result result = lane.way.run(CertificateRole.MEMBER, "ssh-config", "--host", "vm");
        boolean whole = result.status() == 0;
        assertThat(result.out()).contains(whole ? "User " + SimulatedSessionVm.LOGIN + "\n" : "");
        return new SessionResult(whole, result);
    }

    private static SessionResult command(Lane lane) throws Exception {
        Path marker = lane.vm.home.resolve("ran");
        Files.deleteIfExists(marker);
        OpenSshClient.Ended ended = lane.member.run(
                List.of("ssh"),
                List.of("echo >> ran; cat; echo all >&2; exit 7"),
                DATA,
                ssh -> lane.way.connect(CertificateRole.MEMBER, ssh));
        assertThat(ended.status()).as("ssh: %s", ended).isIn(7, 255);
        assertThat(DATA.startsWith(ended.out())).as("in order").isTrue();
        // sshd may send the exit status before the last of the output (OpenSSH, session_exit_message), so that ssh can
        // end with the command's status when the circuit broke in between.
        boolean whole = ended.status() == 7
                && ended.out().size() == DATA.size()
                && ended.errors().contains("all\n");
        assertThat(Files.exists(marker) ? Files.size(marker) : 0)
                .as("how often it ran")
                .isBetween(whole ? 1L : 0L, (long) lane.vm.sessionsStarted.get());
        return new SessionResult(whole, ended.proxy());
    }

    private static SessionResult export(Lane lane) throws Exception {
        Path back = lane.folder.resolve("back");
        Files.deleteIfExists(back);
        OpenSshClient.Ended ended = lane.exporter.run(
                List.of("sftp", "-q", "-b", "-"),
                List.of(),
                ByteString.copyFromUtf8("get data " + back + "\n"),
                ssh -> lane.way.connect(CertificateRole.EXPORTER, ssh));
        boolean whole = ended.status() == 0;
        ByteString came = Files.exists(back) ? ByteString.copyFrom(Files.readAllBytes(back)) : ByteString.EMPTY;
        assertThat(DATA.startsWith(came)).as("in order").isTrue();
        assertThat(came.size()).isBetween(whole ? DATA.size() : 0, DATA.size());
        lane.vm.awaitIdle();
        if (!came.isEmpty()) {
            assertThat(lane.records()).contains("export.opened");
        }
        if (whole) {
            assertThat(lane.records()).contains("export.sent");
        }
        for (String each : List.of("export.begun", "export.ended")) {
            assertThat(Collections.frequency(lane.records(), each)).as(each).isEqualTo(lane.vm.sessionsStarted.get());
        }
        return new SessionResult(whole, ended.proxy());
    }

    @Test
    void a_device_that_asks_for_its_login_hears_it_or_that_the_circuit_broke() throws Exception {
        sweep(Integer.MAX_VALUE, SessionConversationTest::login);
    }

    @Test
    void a_command_is_run_whole_or_its_person_hears_that_the_circuit_broke() throws Exception {
        sweep(DRAWN, SessionConversationTest::command);
    }

    @Test
    void what_is_exported_is_recorded_and_comes_whole_or_its_person_hears_that_the_circuit_broke() throws Exception {
        sweep(DRAWN, SessionConversationTest::export);
    }
}
