package org.cloister.relay;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import org.cloister.daemon.CommandLine;
import org.cloister.daemon.Fatal;
import org.cloister.daemon.StopSignal;
import org.cloister.daemon.Systemd;
import org.cloister.daemon.http.HttpListener;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.Enrolled;
import org.cloister.protocol.link.Renewal;

/**
 * {@code agent-relay [--check] [FILE]}: opens its state, listens for agents and operators, tells systemd, and waits for
 * SIGTERM; then drains and closes in the reverse order.
 */
public final class Main {
    private Main() {}

    public static void main(String[] args) throws InterruptedException {
        new CommandLine("agent-relay", Path.of("/etc/cloister/agent-relay.toml"), "enrol the relay")
                .main(args, RelayConfig::load, Main::run);
    }

    @SuppressWarnings("try") // some resources are only there to be closed
    private static void run(RelayConfig config) throws IOException, InterruptedException {
        Enrolled self = Enrolled.read(config.certificate(), config.key(), config.site(), Role.RELAY);
        Renewal renewal = self.renewal(new SecureRandom());
        Name name = self.name();
        Relay.Terms terms =
                new Relay.Terms(name, config.listen(), renewal, config.limits(), config.globalSlurm(), config.times());
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
        EventLoopGroup operators = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try (StopSignal stop = new StopSignal();
                AutoCloseable loopsEnd = () -> end(loops);
                AutoCloseable operatorsEnd = () -> end(operators);
                Deliveries deliveries = Deliveries.open(config.state(), self.site(), InstantSource.system());
                Records records = Records.open(
                        config.state(),
                        name,
                        self.own(),
                        config.pool(),
                        InstantSource.system(),
                        Fatal.halting("agent-relay"));
                Relay relay = Relay.serve(terms, deliveries, records, new RelayMetrics(), loops);
                OwnRenewal certificate = new OwnRenewal(renewal, relay, operators.next());
                HttpListener socket = AdminRequests.on(config.socket(), relay, operators);
                AutoCloseable metrics =
                        config.metrics() == null ? () -> {} : AdminRequests.on(config.metrics(), relay, operators)) {
            Systemd.ready("serving " + relay.address() + " as " + name);
            stop.await();
            Systemd.stopping();
            relay.drain();
        } catch (IOException | InterruptedException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("no resource above throws another one", e);
        }
    }

    private static void end(EventLoopGroup loops) {
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
