package org.cloister.vm.daemon;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import org.cloister.base.process.ProcessRunner;
import org.cloister.daemon.DaemonCommandLine;
import org.cloister.daemon.StopSignal;
import org.cloister.daemon.SystemdNotifier;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.transport.channel.HostPortDialler;
import org.cloister.vm.boot.AgentVmConfig;
import org.cloister.vm.boot.AgentVmPhase;
import org.cloister.vm.boot.AgentVmStatusFile;
import org.cloister.vm.boot.AssignmentPoller;
import org.cloister.vm.boot.BootJournal;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.boot.HostChannel;
import org.cloister.vm.controller.ControllerRole;
import org.cloister.vm.controller.ControllerStatusFiles;
import org.cloister.vm.metrics.MetricsFile;
import org.cloister.vm.metrics.VmMetrics;
import org.cloister.vm.system.PowerOff;
import org.cloister.vm.system.volume.VolumeStatusFile;
import org.cloister.vm.worker.WorkerRole;

/**
 * {@code agent-vm [--check] [FILE]}: makes the keys of this boot, opens the channel to the host, notifies systemd when
 * the host answers, and waits for SIGTERM. It opens no listening socket and sets no address before the VM has its
 * assignment.
 */
public final class AgentVmMain {
    private static final int TASK_INTERVAL_S = 15;
    private static final String SOFTWARE = "agent-vm";
    private static final SystemdNotifier SYSTEMD = SystemdNotifier.byCommand();
    private static final String LEVEL = "org.slf4j.simpleLogger.defaultLogLevel";

    private AgentVmMain() {}

    public static void main(String[] args) throws InterruptedException {
        new DaemonCommandLine("agent-vm", AgentVmConfig.DEFAULT_FILE, "add it to the image")
                .main(args, AgentVmConfig::load, AgentVmMain::run);
    }

    @SuppressWarnings("try") // some resources are only there to be closed
    private static void run(AgentVmConfig config) throws IOException, InterruptedException {
        // Must precede the creation of the first logger.
        System.setProperty(LEVEL, config.log());
        AgentVmStatusFile status = AgentVmStatusFile.create(config.status());
        SecretAllocator secrets = SecretAllocator.harden(SecretAllocator.Locking.REQUIRED);
        Path device = config.port().isPresent() ? config.port().get() : HostPortDialler.device();
        VmMetrics metrics = new VmMetrics();
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try (StopSignal stop = new StopSignal();
                AutoCloseable loopsEnd =
                        () -> loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
                BootKeyPairs keys = BootKeyPairs.generate(secrets)) {
            VolumeStatusFile volumes = new VolumeStatusFile(config.volumes(), metrics, InstantSource.system());
            schedulePeriodic(loops, volumes::refresh);
            config.metrics()
                    .map(MetricsFile::new)
                    .ifPresent(file -> schedulePeriodic(loops, () -> file.write(metrics)));
            BootJournal journal = BootJournal.open(config.run());
            PowerOff off = new PowerOff(ProcessRunner.local());
            AssignedRole role = new AssignedRole(
                    new WorkerRole(secrets, config.run(), journal, status, volumes, metrics),
                    new ControllerRole(
                            secrets, config.run(), journal, new ControllerStatusFiles(status, volumes), metrics),
                    keys,
                    off,
                    // As on SIGTERM; the unit starts another process.
                    () -> System.exit(0));
            if (journal.hasRequestedEvidence()) {
                status.writePhase(AgentVmPhase.LEAVING);
                role.cleanUpOrphan(journal);
                stop.await();
                return;
            }
            status.writeKeys(keys.publicKeys());
            try (AutoCloseable channel = open(loops, device, keys, assignmentListener(role, off), status, metrics)) {
                stop.await();
                SYSTEMD.notifyStopping();
                role.stop();
            }
        } catch (IOException | InterruptedException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("no resource above throws another one", e);
        }
    }

    private static HostChannel.ListenerFactory assignmentListener(AssignedRole role, PowerOff off) {
        return (bootKeys, trustStore) ->
                new AssignmentPoller(trustStore, assignment -> role.start(assignment, trustStore), off::request);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the result of the notification is not needed
    private static HostChannel open(
            EventLoopGroup loops,
            Path device,
            BootKeyPairs keys,
            HostChannel.ListenerFactory listeners,
            AgentVmStatusFile status,
            VmMetrics metrics) {
        HostChannel channel = HostChannel.open(loops.next(), device, SOFTWARE, keys, listeners, status, metrics);
        // Not on the loop, which it would block.
        channel.attached().thenRunAsync(() -> SYSTEMD.notifyReady("attached to the host"));
        return channel;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the loop's own timer
    private static void schedulePeriodic(EventLoopGroup loops, Runnable task) {
        loops.scheduleWithFixedDelay(task, 0, TASK_INTERVAL_S, TimeUnit.SECONDS);
    }
}
