package org.cloister.lab.ends;

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
import java.util.concurrent.TimeUnit;
import org.cloister.ctl.Cli;
import org.cloister.host.desk.Caller;
import org.cloister.host.desk.Desk;
import org.cloister.host.desk.Ending;
import org.cloister.host.desk.Phase;
import org.cloister.host.desk.Phases;
import org.cloister.host.desk.Rendering;
import org.cloister.host.desk.Status;
import org.cloister.host.desk.VmView;
import org.cloister.host.desk.Work;
import org.cloister.host.desk.WorkRefused;
import org.cloister.host.ledger.Entry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code agentctl host run} and a host's desk, each as it is. The socket loses nothing but with its daemon, which ends in front of
 * and behind each line once: one VM is made and its step hears of its end, or none is made and the step hears that.
 */
@Timeout(180)
@SuppressWarnings("NullAway") // what is missing shows as a failed test
class HostRunEndsTest {
    private static final String TICKET = "czgfrtu36vggs2hcwyj6cdtzvu";
    private static final long JOB = 4711;
    private static final List<Phase> PHASES = List.of(Phase.JOB, Phase.TICKET, Phase.RUNNING);
    /** In front of each phase and behind it, and in front of the end and behind it. */
    private static final int PLACES = 2 * PHASES.size() + 2;

    @TempDir
    private Path folder;

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private Path socket;
    private Desk desk;
    private Host host;

    /** One that makes a VM when its ticket was read, and knows it whatever becomes of its daemon. */
    private final class Host implements Work {
        private final int ends;
        private int place;

        // Guarded by this object's monitor.
        private int made;
        private Phases waiting;
        private Optional<Ending> ended = Optional.empty();

        /** @param ends the place at which the daemon ends; none if it is negative */
        Host(int ends) {
            this.ends = ends;
        }

        @Override
        public Run run(Caller caller, String ticket, boolean again, Phases phases) throws WorkRefused {
            assertThat(caller.job()).isEqualTo(JOB);
            if (again) {
                wait(phases);
                return this::stop;
            }
            for (Phase each : PHASES) {
                passes();
                phases.reached(each, Duration.ofMillis(7));
                passes();
                if (each == Phase.TICKET) {
                    make();
                }
            }
            wait(phases);
            return this::stop;
        }

        /** A daemon that has ended does nothing more; what it has made is found by the next one. */
        private void passes() throws WorkRefused {
            if (place++ == ends) {
                restart();
                throw new WorkRefused("a daemon that has ended", "");
            }
        }

        private synchronized void make() {
            made++;
        }

        private synchronized void wait(Phases phases) throws WorkRefused {
            if (made == 0) {
                throw new WorkRefused("ticket " + TICKET + ": want a VM of job " + JOB + ", have none", "");
            }
            waiting = phases;
            ended.ifPresent(phases::ended);
            notifyAll();
        }

        /** The guest powers off as soon as somebody waits for it. */
        void powerOff() throws InterruptedException {
            Phases last;
            boolean lost;
            synchronized (this) {
                while (waiting == null) {
                    wait();
                }
                ended = Optional.of(new Ending(Ending.Code.DONE, Phase.GONE, "the guest powered off", ""));
                last = waiting;
                lost = place++ == ends;
            }
            if (lost) {
                restart();
                return;
            }
            last.ended(ended.get());
            if (place++ == ends) {
                restart();
            }
        }

        private synchronized void stop() {
            ended = ended.or(() -> Optional.of(new Ending(Ending.Code.STOPPED, Phase.GONE, "it was stopped", "")));
        }

        @Override
        public Status status() {
            throw new UnsupportedOperationException("nobody asks");
        }

        @Override
        public List<VmView> vms() {
            return List.of();
        }

        @Override
        public List<Entry> ledger() {
            return List.of();
        }

        @Override
        public void stop(String vm) {}

        @Override
        public Rendering render(String what) {
            throw new UnsupportedOperationException("nobody asks");
        }
    }

    @BeforeEach
    void begin() {
        socket = folder.resolve("s");
    }

    @AfterEach
    void end() {
        threads.shutdownNow();
    }

    private Desk open() throws IOException {
        PosixFileAttributes own = Files.readAttributes(folder, PosixFileAttributes.class);
        return Desk.open(socket, own.group().getName(), own.owner().getName(), pid -> JOB, host);
    }

    /** Returns when nobody is heard any more; the next one begins when the one before has let its callers go. */
    private void restart() {
        threads.execute(() -> {
            try {
                desk.close();
                desk = open();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        while (true) {
            try {
                SocketChannel.open(UnixDomainSocketAddress.of(socket)).close();
            } catch (IOException e) {
                return;
            }
        }
    }

    private Cli.Result run(int ends) throws Exception {
        host = new Host(ends);
        desk = open();
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
            threads.execute(() -> {
                try {
                    host.powerOff();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            return result.get(60, TimeUnit.SECONDS);
        } finally {
            desk.close();
        }
    }

    @Test
    void a_step_and_its_host_agree_on_the_vm_wherever_the_daemon_ends() throws Exception {
        for (int ends = -1; ends < PLACES; ends++) {
            Cli.Result said = run(ends);
            if (host.made == 0) {
                // It was told of a phase, asked for its VM again, and there is none.
                assertThat(said.status()).as("%s: %s", ends, said.err()).isEqualTo(4);
                assertThat(said.err()).contains("want a VM of job 4711, have none");
                assertThat(ends).as("only in front of what makes one").isBetween(0, 3);
            } else {
                assertThat(said.status()).as("%s: %s", ends, said.err()).isZero();
                assertThat(said.out()).contains("the guest powered off");
                assertThat(host.made).as("%s: VMs", ends).isEqualTo(1);
            }
        }
    }
}
