package org.cloister.vm.daemon;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.cloister.base.process.ProcessRunner;
import org.cloister.ipsec.EspMode;
import org.cloister.luks.key.LibCryptoCalls;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.protocol.evidence.BootPublicKeys;
import org.cloister.protocol.handover.VmAssignment;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.transport.link.AgentLinkListener;
import org.cloister.vm.boot.AgentVmStatusFile;
import org.cloister.vm.boot.AssignmentPoller;
import org.cloister.vm.boot.BootJournal;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.boot.HostChannel;
import org.cloister.vm.boot.VmTrustStore;
import org.cloister.vm.controller.ControllerEnvironment;
import org.cloister.vm.controller.ControllerStatusFiles;
import org.cloister.vm.controller.ControllingVm;
import org.cloister.vm.controller.VmShutdown;
import org.cloister.vm.controller.config.MachineSettings;
import org.cloister.vm.metrics.VmMetrics;
import org.cloister.vm.system.daemon.SystemdUnitControl;
import org.cloister.vm.system.volume.VolumeStatusFile;
import org.cloister.vm.worker.SimulatedWorker;
import org.cloister.vm.worker.WorkerVm;
import org.jspecify.annotations.Nullable;

/**
 * A VM whose agent is as {@link AgentVmMain} puts it together, on a machine that does nothing: for tests that have its
 * host. Its agent can end and another one start, which finds what lies on tmpfs.
 */
@SuppressWarnings("NullAway") // what is missing shows as a failed test
public final class BootedVm implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(5);

    /** What the host said that it is, each time that something was begun. */
    public final List<VmAssignment> assignments = new CopyOnWriteArrayList<>();
    /** Of each agent. */
    public final List<BootPublicKeys> keys = new CopyOnWriteArrayList<>();
    /** What its machine would have done. */
    public final List<String> steps = new CopyOnWriteArrayList<>();

    private final Path device;
    private final Path run;
    private final SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.RUN_WITHOUT_LOCKED_MEMORY);
    private volatile int starts;
    private volatile boolean off;
    private volatile @Nullable Agent agent;

    /**
     * @param device of its port
     * @param run a folder, for tmpfs
     */
    public BootedVm(Path device, Path run) throws IOException {
        this.device = device;
        this.run = run;
    }

    /** How often an agent was started, also to find that another one was asked about. */
    public int starts() {
        return starts;
    }

    /** Whether it has powered off. */
    public boolean isOff() {
        return off;
    }

    /** Whether the host was asked to vouch for keys. */
    public boolean isAsked() {
        return BootJournal.open(run).hasRequestedEvidence();
    }

    /** Whether it has taken a revocation list of this number, of its project's owners. */
    public boolean hasRevocations(int number) {
        Agent now = agent;
        return now != null
                && now.trustStore.trustStore().lists().all().stream()
                        .anyMatch(list -> list.number().equals(BigInteger.valueOf(number)));
    }

    /** Starts an agent. One that finds that another one's keys are gone has its VM go off, as it does there. */
    public synchronized void start() throws IOException {
        starts++;
        if (BootJournal.open(run).hasRequestedEvidence()) {
            off = true;
        } else if (!off) {
            agent = new Agent();
        }
    }

    /** Its agent ends, as if it was killed; what it wrote and nobody has read stays in the port. */
    public void kill() throws InterruptedException, IOException {
        Agent last = agent;
        agent = null;
        if (last != null) {
            last.close();
        }
    }

    @Override
    public void close() throws IOException {
        try {
            kill();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** One process. */
    private final class Agent {
        private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        private final VmMetrics metrics = new VmMetrics();
        private final BootJournal journal = BootJournal.open(run);
        private final AgentVmStatusFile status = AgentVmStatusFile.create(run.resolve("agent-vm.status"));
        private final BootKeyPairs own = BootKeyPairs.generate(secrets);
        private final HostChannel channel;
        private volatile VmTrustStore trustStore;
        private volatile @Nullable WorkerVm worker;
        private volatile @Nullable ControllingVm controlling;
        private volatile boolean dead;

        Agent() throws IOException {
            keys.add(own.publicKeys());
            status.writeKeys(own.publicKeys());
            channel = HostChannel.open(
                    loops.next(),
                    device,
                    "agent-vm",
                    own,
                    (bootKeys, whom) -> {
                        trustStore = whom;
                        return new AssignmentPoller(whom, assignment -> start(assignment, whom), this::off);
                    },
                    status,
                    metrics);
        }

        private AgentLinkListener start(VmAssignment assignment, VmTrustStore whom) {
            assignments.add(assignment);
            try {
                if (assignment.role() == CertificateRole.WORKER) {
                    worker = SimulatedWorker.start(
                            assignment, own, whom.trustStore(), journal, status, metrics, this::did);
                    return worker;
                }
                controlling = new ControllingVm(
                        assignment,
                        own,
                        whom,
                        environment(),
                        new ControllerStatusFiles(
                                status, new VolumeStatusFile(run.resolve("volumes"), metrics, InstantSource.system())),
                        journal,
                        new VmShutdown(why -> off(), why -> off()));
                return controlling;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Nobody opens it here. */
        private ControllerEnvironment environment() throws IOException {
            ProcessRunner programs = ProcessRunner.local();
            return new ControllerEnvironment(
                    programs,
                    LibCryptoCalls.load(secrets),
                    Cryptsetup.load(),
                    new SystemdUnitControl(programs, run.resolve("units")),
                    MachineSettings.load(run.resolve("none.toml")),
                    metrics,
                    run,
                    run.resolve("etc"),
                    EspMode.KERNEL);
        }

        private void did(String step) {
            if (step.equals(SimulatedWorker.OFF)) {
                off();
            } else if (!dead) {
                steps.add(step);
            }
        }

        /** With the VM its agent is gone. */
        private void off() {
            if (!dead) {
                off = true;
                channel.close();
            }
        }

        void close() throws InterruptedException, IOException {
            dead = true;
            channel.close();
            awaitClosed();
            loops.shutdownGracefully(0, LIMIT.toSeconds(), TimeUnit.SECONDS).syncUninterruptibly();
            if (worker != null) {
                worker.close();
            }
            if (controlling != null) {
                controlling.stop(LIMIT);
            }
            own.close();
        }
    }

    /** One process at a time has a virtio port. */
    private void awaitClosed() throws InterruptedException, IOException {
        long endNs = System.nanoTime() + LIMIT.toNanos();
        while (isOpen()) {
            if (System.nanoTime() - endNs > 0) {
                throw new AssertionError(device + " is still open");
            }
            Thread.sleep(5);
        }
    }

    private boolean isOpen() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.anyMatch(file -> {
                try {
                    return Files.readSymbolicLink(file).equals(device);
                } catch (NoSuchFileException e) {
                    return false;
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }
}
