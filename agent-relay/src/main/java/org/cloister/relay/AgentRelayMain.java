package org.cloister.relay;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import org.cloister.daemon.DaemonCommandLine;
import org.cloister.daemon.DaemonCommandLine.CredentialFiles;
import org.cloister.daemon.ProcessAbort;
import org.cloister.daemon.StopSignal;
import org.cloister.daemon.SystemdNotifier;
import org.cloister.daemon.SystemdWatchdog;
import org.cloister.daemon.http.AdminHttpServer;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.relay.links.RelayCertificateRenewal;
import org.cloister.relay.links.RelayMetrics;
import org.cloister.relay.state.DeliveredDocuments;
import org.cloister.relay.state.RelayRecords;
import org.cloister.transport.link.EnrolledMachine;
import org.cloister.transport.link.RenewalClient;

/**
 * Starts the relay from the command line {@code agent-relay [--check | --credentials] [FILE]}: opens its state, listens
 * for agents and operators, notifies systemd and waits for SIGTERM; then drains and closes everything in reverse order.
 */
public final class AgentRelayMain {
    private AgentRelayMain() {}

    public static void main(String[] args) throws InterruptedException {
        new DaemonCommandLine("agent-relay", Path.of("/etc/cloister/agent-relay.toml"), "enrol the relay")
                .main(
                        args,
                        RelayConfig::load,
                        config -> new CredentialFiles(config.certificate(), config.key(), config.site()),
                        AgentRelayMain::run);
    }

    @SuppressWarnings("try") // some resources are declared only to be closed
    private static void run(RelayConfig config) throws IOException, InterruptedException {
        EnrolledMachine self =
                EnrolledMachine.read(config.certificate(), config.key(), config.site(), CertificateRole.RELAY);
        RenewalClient renewal = self.renewal(new SecureRandom());
        CertificateName name = self.name();
        RelayDaemon.Settings settings = new RelayDaemon.Settings(
                name, config.listen(), renewal, config.limits(), config.globalSlurm(), config.times());
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
        EventLoopGroup operators = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try (StopSignal stop = new StopSignal();
                AutoCloseable loopsClose = () -> close(loops);
                AutoCloseable operatorsClose = () -> close(operators);
                DeliveredDocuments documents =
                        DeliveredDocuments.open(config.state(), self.site(), InstantSource.system());
                RelayRecords records = RelayRecords.open(
                        config.state(),
                        name,
                        self.credential(),
                        config.pool(),
                        InstantSource.system(),
                        ProcessAbort.halting("agent-relay"));
                RelayDaemon relay = new RelayDaemon(settings, documents, records, new RelayMetrics(), loops);
                RelayCertificateRenewal certificate =
                        new RelayCertificateRenewal(renewal, relay.renewals(), operators.next());
                AdminHttpServer socket = relay.adminApi().listen(config.socket(), operators);
                AutoCloseable metrics =
                        config.metrics() == null ? () -> {} : relay.adminApi().listen(config.metrics(), operators)) {
            FirstRevocationList.deliver(config.site(), self.site(), documents, relay.delivery());
            SystemdNotifier notifier = SystemdNotifier.byCommand();
            notifier.notifyReady("serving " + relay.address() + " as " + name);
            SystemdWatchdog.start(
                    notifier,
                    loops,
                    () -> relay.ticketLifecycle().status(Instant.now()).join());
            stop.await();
            notifier.notifyStopping();
            relay.drain();
        } catch (IOException | InterruptedException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("a component throws an unexpected checked exception", e);
        }
    }

    private static void close(EventLoopGroup loops) {
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
