package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.cloister.host.control.VmRunPhase;
import org.cloister.host.control.VmRunResult;
import org.cloister.host.daemon.AgentHostRootClient;
import org.cloister.host.health.DrainReason;
import org.cloister.host.health.NodeHealth;
import org.cloister.host.health.NodeHealthMonitor;
import org.cloister.host.health.SlurmNodeClient;
import org.cloister.host.health.SlurmNodeState;
import org.cloister.host.reconcile.ReconcilePass;
import org.cloister.host.vm.VmRunCode;
import org.cloister.lab.Poll;
import org.cloister.lab.SlurmCommandWrappers;
import org.cloister.slurm.SlurmCommand;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A host at fault, drained and resumed in a real Slurm through the package's root part, and administrators who do the same. */
@Tag("scenario")
@Tag("host")
@Timeout(180)
@SuppressWarnings("NullAway.Init") // set before all and each
class NodeDrainTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    /** Blanks, quotes, and what a shell takes for more. */
    private static final VmRunResult FAULT = new VmRunResult(
            VmRunCode.HOST, VmRunPhase.SCRATCH, "no \"space\" left; it's $(reboot) `x` | full state=down", "free some");

    /** Without a reason of ours, whether Slurm clears reasons or not. */
    private static final String IN_SERVICE = "idle\\*? (none|not drained by agent-host)";

    private static final ReconcilePass.Outcome CLEAN =
            new ReconcilePass.Outcome(List.of(), Set.of(), List.of(), List.of(), List.of(), 1, OptionalLong.empty());
    private static final ReconcilePass.Outcome TROUBLE = ReconcilePass.Outcome.failed("VM 1: its tap stays", 1);

    private static CgroupSlurm slurm;
    private static RootSocket socket;

    private final AtomicInteger queries = new AtomicInteger();
    private final AtomicInteger failures = new AtomicInteger();
    private SlurmNodeClient node;
    private NodeHealthMonitor watch;

    @BeforeAll
    static void setUp() throws IOException {
        slurm = CgroupSlurm.start();
        socket = RootSocket.forSlurm(slurm);
    }

    @AfterAll
    static void tearDown() throws IOException {
        socket.close();
        slurm.close();
    }

    @BeforeEach
    void watch() throws IOException {
        node = new SlurmNodeClient(
                new SlurmCommand(
                        Optional.of(
                                SlurmCommandWrappers.install(slurm.machine()).folder()),
                        Optional.empty(),
                        Duration.ofSeconds(3)),
                slurm.node());
        watch = start(rootProgram());
    }

    private static AgentHostRootClient rootProgram() {
        return new AgentHostRootClient(socket.path(), Duration.ofSeconds(30));
    }

    private NodeHealthMonitor start(NodeHealthMonitor.SlurmNodeCommands commands) {
        NodeHealthMonitor started = new NodeHealthMonitor(
                new NodeHealth(
                        new NodeHealth.Delays(Duration.ofMillis(300), Duration.ofSeconds(2), Duration.ofHours(1))),
                this::queryState,
                commands,
                List::of,
                InstantSource.system(),
                Duration.ofMillis(200));
        started.start();
        return started;
    }

    private SlurmNodeState queryState() throws IOException {
        boolean answered = false;
        try {
            SlurmNodeState seen = node.readState();
            answered = true;
            queries.incrementAndGet();
            return seen;
        } finally {
            if (!answered) {
                failures.incrementAndGet();
            }
        }
    }

    @AfterEach
    void leave_it_in_service() throws IOException {
        watch.close();
        if (node.readState().isOutOfService()) {
            administrator("state=resume");
        }
        Poll.until("an idle node", LIMIT, "read slurmctld's log", () -> sinfo().startsWith("idle "));
    }

    private static void administrator(String... what) throws IOException {
        List<String> argv = new ArrayList<>(List.of("scontrol", "update", "nodename=" + slurm.node()));
        argv.addAll(List.of(what));
        slurm.machine().command(argv).succeed();
    }

    private static String sinfo() throws IOException {
        return slurm.machine().command("sinfo", "-h", "-o", "%T %E").succeed().strip();
    }

    /** Rounds of one kind go on until Slurm has it. */
    private void await(ReconcilePass.Outcome outcome, String pattern) throws IOException {
        Poll.until("sinfo: " + pattern, LIMIT, "read slurmctld's log", Duration.ofMillis(100), () -> {
            watch.onPass(outcome);
            return sinfo().matches(pattern);
        });
    }

    private void awaitLooks(int more) throws IOException {
        int until = queries.get() + more;
        Poll.until("looks", LIMIT, "read the test's output", Duration.ofMillis(100), () -> {
            watch.onPass(CLEAN);
            return queries.get() >= until;
        });
    }

    /** Longer than what would be enough to resume a node of ours. */
    private void awaitEnough() throws IOException {
        long sinceMs = System.currentTimeMillis();
        Poll.until("three seconds of looks", LIMIT, "read the test's output", Duration.ofMillis(100), () -> {
            watch.onPass(CLEAN);
            return System.currentTimeMillis() - sinceMs > 3000;
        });
    }

    @Test
    void a_fault_of_the_host_drains_the_node_until_it_was_clean_for_a_while() throws IOException {
        watch.onPass(CLEAN);
        watch.onVmEnded(FAULT);
        await(
                CLEAN,
                "drained cloister: scratch failed: no _space_ left; it_s __reboot_ _x_ _ full state=down; free some"
                        + " \\([0-9TZ]{16} until clean [0-9a-f]{8}\\)");
        await(CLEAN, IN_SERVICE);
        watch.onVmEnded(FAULT);
        await(CLEAN, "drained cloister: scratch failed: .* until resumed [0-9a-f]{8}\\)");
        administrator("state=resume");
        await(CLEAN, IN_SERVICE);
    }

    @Test
    void who_cannot_clean_up_takes_no_more_work_and_the_next_process_resumes_it() throws IOException {
        await(TROUBLE, "drained cloister: cannot clean up: VM 1: its tap stays \\(.*\\)");
        watch.close();
        watch = start(rootProgram());
        await(CLEAN, IN_SERVICE);
    }

    @Test
    void a_daemon_that_is_root_needs_no_root_program() throws IOException {
        watch.close();
        watch = start(node);
        await(TROUBLE, "drained cloister: .*");
        await(CLEAN, IN_SERVICE);
    }

    @Test
    void what_slurmctld_drains_by_itself_after_a_drain_of_ours_stays_drained() throws IOException {
        await(TROUBLE, "drained cloister: .*");
        await(CLEAN, IN_SERVICE);
        slurm.prologFails(true);
        long job = slurm.submit("prolog", 100);
        try {
            await(CLEAN, "drained\\*? (Prolog error|batch job complete failure|not drained by agent-host)");
            awaitEnough();
            assertThat(sinfo()).startsWith("drained");
        } finally {
            slurm.prologFails(false);
            slurm.cancel(job);
        }
    }

    @Test
    void a_node_in_service_without_this_reason_is_neither_resumed_nor_given_another() {
        DrainReason reason = new DrainReason("scratch failed", Instant.EPOCH, false);
        for (NodeHealthMonitor.SlurmNodeCommands each : List.of(node, rootProgram())) {
            assertThatThrownBy(() -> each.resume(reason)).hasMessageMatching(".*(not resumed|want it drained).*");
            assertThatThrownBy(() -> each.replaceReason(reason))
                    .hasMessageMatching(".*(keeps its reason|want it with this reason).*");
        }
    }

    @Test
    void what_an_administrator_has_drained_is_his() throws IOException {
        administrator("state=drain", "reason=disk \"swap\" | ann\nsince 9");
        watch.onPass(CLEAN);
        watch.onVmEnded(FAULT);
        awaitLooks(3);
        assertThat(slurm.machine()
                        .command("scontrol", "show", "node", slurm.node())
                        .succeed())
                .contains("IDLE+DRAIN", "Reason=disk \"swap\" | ann");
    }

    @Test
    void a_reason_that_an_administrator_has_changed_is_his() throws IOException {
        watch.onPass(CLEAN);
        watch.onVmEnded(FAULT);
        await(CLEAN, "drained cloister: .*");
        String changed = node.readState().reason() + " - looked at by ann";
        administrator("reason=" + changed);
        awaitEnough();
        assertThat(sinfo()).isEqualTo("drained " + changed);
    }

    @Test
    void slurm_that_does_not_answer_is_asked_again() throws IOException {
        Poll.until("a look", LIMIT, "read the test's output", () -> queries.get() >= 1);
        slurm.machine().signal("slurmctld", "STOP");
        try {
            watch.onVmEnded(FAULT);
            Poll.until("failed looks", LIMIT, "read the test's output", () -> failures.get() >= 2);
        } finally {
            slurm.machine().signal("slurmctld", "CONT");
        }
        await(TROUBLE, "drained cloister: .*");
    }
}
