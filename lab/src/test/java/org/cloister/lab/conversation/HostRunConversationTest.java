package org.cloister.lab.conversation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.cloister.ctl.Cli;
import org.cloister.host.control.ControlServer;
import org.cloister.host.control.HostOperations;
import org.cloister.host.control.HostStatus;
import org.cloister.host.control.JobStepCaller;
import org.cloister.host.control.OperationRefused;
import org.cloister.host.control.VmRendering;
import org.cloister.host.control.VmRunListener;
import org.cloister.host.control.VmRunPhase;
import org.cloister.host.control.VmRunResult;
import org.cloister.host.control.VmSummary;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.vm.VmRunCode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code agentctl host run} and a host's desk, each as it is. The socket loses nothing but with its daemon, which ends in front of
 * and behind each line once: one VM is made and its step hears of its end, or none is made and the step hears that.
 */
@Tag("boundary")
@Timeout(180)
@SuppressWarnings("NullAway") // what is missing shows as a failed test
class HostRunConversationTest {
    private static final String TICKET = "czgfrtu36vggs2hcwyj6cdtzvu";
    private static final long JOB = 4711;
    private static final List<VmRunPhase> PHASES = List.of(VmRunPhase.JOB, VmRunPhase.TICKET, VmRunPhase.RUNNING);
    /** In front of each phase and behind it, and in front of the end and behind it. */
    private static final int PLACES = 2 * PHASES.size() + 2;

    @TempDir
    private Path folder;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private Path socket;
    private volatile ControlServer server;
    /** The last one; a daemon may end when its caller has its result already. */
    private volatile Future<?> restart = CompletableFuture.completedFuture(null);

    private SimulatedHost host;

    /** One that makes a VM when its ticket was read, and knows it whatever becomes of its daemon. */
    private final class SimulatedHost implements HostOperations {
        private final int ends;
        private int place;

        // Guarded by this object's monitor.
        private int made;
        private VmRunListener waiting;
        private Optional<VmRunResult> ended = Optional.empty();

        /** @param ends the place at which the daemon ends; none if it is negative */
        SimulatedHost(int ends) {
            this.ends = ends;
        }

        @Override
        public Run run(JobStepCaller caller, String ticket, boolean again, VmRunListener phases)
                throws OperationRefused {
            assertThat(caller.job()).isEqualTo(JOB);
            if (again) {
                wait(phases);
                return this::stop;
            }
            for (VmRunPhase each : PHASES) {
                passes();
                phases.onPhase(each, Duration.ofMillis(7));
                passes();
                if (each == VmRunPhase.TICKET) {
                    make();
                }
            }
            wait(phases);
            return this::stop;
        }

        /** A daemon that has ended does nothing more; what it has made is found by the next one. */
        private void passes() throws OperationRefused {
            if (place++ == ends) {
                restart();
                throw new OperationRefused("a daemon that has ended", "");
            }
        }

        private synchronized void make() {
            made++;
        }

        private synchronized void wait(VmRunListener phases) throws OperationRefused {
            if (made == 0) {
                throw new OperationRefused("ticket " + TICKET + ": want a VM of job " + JOB + ", have none", "");
            }
            waiting = phases;
            ended.ifPresent(phases::onResult);
            notifyAll();
        }

        /** The guest powers off as soon as somebody waits for it. */
        void powerOff() throws InterruptedException {
            VmRunListener last;
            boolean lost;
            synchronized (this) {
                while (waiting == null) {
                    wait();
                }
                ended = Optional.of(new VmRunResult(VmRunCode.DONE, VmRunPhase.GONE, "the guest powered off", ""));
                last = waiting;
                lost = place++ == ends;
            }
            if (lost) {
                restart();
                return;
            }
            last.onResult(ended.get());
            if (place++ == ends) {
                restart();
            }
        }

        private synchronized void stop() {
            ended = ended.or(
                    () -> Optional.of(new VmRunResult(VmRunCode.STOPPED, VmRunPhase.GONE, "it was stopped", "")));
        }

        @Override
        public HostStatus status() {
            throw new UnsupportedOperationException("nobody asks");
        }

        @Override
        public List<VmSummary> vms() {
            return List.of();
        }

        @Override
        public List<VmLedgerEntry> ledger() {
            return List.of();
        }

        @Override
        public void stop(String vm) {}

        @Override
        public VmRendering render(String what) {
            throw new UnsupportedOperationException("nobody asks");
        }
    }

    @BeforeEach
    void setUp() {
        socket = folder.resolve("s");
    }

    @AfterEach
    void tearDown() {
        threads.shutdownNow();
    }

    private ControlServer open() throws IOException {
        PosixFileAttributes own = Files.readAttributes(folder, PosixFileAttributes.class);
        return ControlServer.open(socket, own.group().getName(), own.owner().getName(), pid -> JOB, host);
    }

    /**
     * Closes the server and opens the next one. Returns when a connection is refused, or when the next server is open: without
     * callers it opens between two attempts to connect.
     */
    private void restart() {
        Future<?> next = threads.submit(() -> {
            server.close();
            server = open();
            return null;
        });
        restart = next;
        while (!next.isDone()) {
            try {
                SocketChannel.open(UnixDomainSocketAddress.of(socket)).close();
            } catch (IOException e) {
                return;
            }
        }
    }

    private Cli.Result run(int ends) throws Exception {
        host = new SimulatedHost(ends);
        server = open();
        try (Cli cli = new Cli(folder, "none")) {
            CompletableFuture<Cli.Result> result = CompletableFuture.supplyAsync(
                    () -> {
                        try {
                            return cli.run("host", "run", "--socket", socket.toString(), TICKET);
                        } catch (IOException e) {
                            throw new CompletionException(e);
                        }
                    },
                    threads);
            Future<?> powerOff = threads.submit(() -> {
                host.powerOff();
                return null;
            });
            Cli.Result end = result.get(60, TimeUnit.SECONDS);
            // Without a VM nobody waits for its end.
            if (host.made > 0) {
                powerOff.get(60, TimeUnit.SECONDS);
            } else {
                powerOff.cancel(true);
            }
            restart.get(60, TimeUnit.SECONDS);
            return end;
        } finally {
            server.close();
        }
    }

    @Test
    void a_step_and_its_host_agree_on_the_vm_wherever_the_daemon_ends() throws Exception {
        for (int ends = -1; ends < PLACES; ends++) {
            Cli.Result result = run(ends);
            if (host.made == 0) {
                // It was told of a phase, asked for its VM again, and there is none.
                assertThat(result.status()).as("%s: %s", ends, result.err()).isEqualTo(4);
                assertThat(result.err()).contains("want a VM of job 4711, have none");
                assertThat(ends).as("only in front of what makes one").isBetween(0, 3);
            } else {
                assertThat(result.status()).as("%s: %s", ends, result.err()).isZero();
                assertThat(result.out()).contains("the guest powered off");
                assertThat(host.made).as("%s: VMs", ends).isEqualTo(1);
            }
        }
    }
}
