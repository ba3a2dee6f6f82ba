package org.cloister.vm.run;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import org.cloister.daemon.CommandLine;
import org.cloister.daemon.StopSignal;
import org.cloister.daemon.Systemd;
import org.cloister.luks.secret.Secrets;
import org.cloister.protocol.channel.PortDialler;
import org.cloister.vm.MetricsFile;
import org.cloister.vm.VmMetrics;
import org.cloister.vm.boot.Assigning;
import org.cloister.vm.boot.Beginning;
import org.cloister.vm.boot.Begun;
import org.cloister.vm.boot.BootConfig;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.boot.BootPhase;
import org.cloister.vm.boot.BootStatus;
import org.cloister.vm.boot.HostChannel;
import org.cloister.vm.joining.WorkerRole;
import org.cloister.vm.machine.PowerOff;
import org.cloister.vm.machine.Programs;
import org.cloister.vm.volume.Volumes;

/**
 * {@code agent-vm [--check] [FILE]}: makes the keys of this boot, opens the channel to the host, tells systemd when the host
 * answers, and waits for SIGTERM. Nothing listens, and no address is set, before the VM was told what it is for.
 */
public final class Main {
    private static final int EVERY_S = 15;
    private static final String SOFTWARE = "agent-vm";
    private static final String LEVEL = "org.slf4j.simpleLogger.defaultLogLevel";

    private Main() {}

    public static void main(String[] args) throws InterruptedException {
        new CommandLine("agent-vm", BootConfig.USUAL, "add it to the image").main(args, BootConfig::load, Main::run);
    }

    @SuppressWarnings("try") // some resources are only there to be closed
    private static void run(BootConfig config) throws IOException, InterruptedException {
        // Before the first logger is made.
        System.setProperty(LEVEL, config.log());
        BootStatus status = BootStatus.begin(config.status());
        Secrets secrets = Secrets.harden(Secrets.Locking.REQUIRED);
        Path device = config.port().isPresent() ? config.port().get() : PortDialler.device();
        VmMetrics metrics = new VmMetrics();
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try (StopSignal stop = new StopSignal();
                AutoCloseable loopsEnd =
                        () -> loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
                BootKeyPairs keys = BootKeyPairs.make(secrets, new SecureRandom())) {
            Volumes volumes = new Volumes(config.volumes(), metrics, InstantSource.system());
            keep(loops, volumes::refresh);
            config.metrics().map(MetricsFile::new).ifPresent(file -> keep(loops, () -> file.write(metrics)));
            Begun begun = Begun.open(config.run());
            PowerOff off = new PowerOff(Programs.ofThisMachine());
            Roles roles = new Roles(
                    new WorkerRole(secrets, config.run(), begun, status, volumes, metrics),
                    new ControllerRole(secrets, config.run(), begun, new Reports(status, volumes), metrics),
                    keys,
                    off,
                    // As on SIGTERM; the unit starts another one.
                    () -> System.exit(0));
            if (begun.isAsked()) {
                status.reached(BootPhase.LEAVING);
                roles.endOrphan(begun);
                stop.await();
                return;
            }
            status.keys(keys.shown());
            try (AutoCloseable channel = open(loops, device, keys, assigning(roles, off), status, metrics)) {
                stop.await();
                Systemd.stopping();
                roles.stop();
            }
        } catch (IOException | InterruptedException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("no resource above throws another one", e);
        }
    }

    private static Beginning assigning(Roles roles, PowerOff off) {
        return (own, believed) -> new Assigning(believed, assignment -> roles.begin(assignment, believed), off::begin);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // systemd is told, or not
    private static HostChannel open(
            EventLoopGroup loops,
            Path device,
            BootKeyPairs keys,
            Beginning beginning,
            BootStatus status,
            VmMetrics metrics) {
        HostChannel channel = HostChannel.open(loops.next(), device, SOFTWARE, keys, beginning, status, metrics);
        // Not on the loop, which it would block.
        channel.attached().thenRunAsync(() -> Systemd.ready("attached to the host"));
        return channel;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the loop's own timer
    private static void keep(EventLoopGroup loops, Runnable work) {
        loops.scheduleWithFixedDelay(work, 0, EVERY_S, TimeUnit.SECONDS);
    }
}
