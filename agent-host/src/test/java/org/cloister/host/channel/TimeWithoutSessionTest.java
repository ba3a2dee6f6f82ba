package org.cloister.host.channel;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.transport.link.ClientLink;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Time that a host counts for an agent without a session, over a real character device and a real socket. */
@Timeout(120)
@SuppressWarnings("NullAway.Init") // start() sets it
class TimeWithoutSessionTest {
    private static final int PAUSE_MS = 20;

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());

    @TempDir
    private Path folder;

    private GuestChannelEnd vm;
    private HostChannelEnd host;

    @BeforeEach
    void start() throws Exception {
        vm = new GuestChannelEnd(loops, folder.resolve("vm"));
        host = new HostChannelEnd(
                loops,
                HostChannelEnd.key(SignatureCurve.P256),
                Files.createDirectory(folder.resolve("statements")),
                owner -> {});
    }

    @AfterEach
    void stop() {
        host.close();
        vm.close();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private Duration without() {
        return host.channels.withoutSession(HostChannelEnd.owner(1).uuid());
    }

    private void awaitAttached(int agents) throws InterruptedException {
        while (host.channels.countAttached() != agents) {
            TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
        }
    }

    /** Opens a session without an agent and ends it when the host has it, too. */
    private void endOneSession() throws InterruptedException {
        long before = host.metrics.sessions.getCount();
        ClientLink session = vm.session();
        while (host.metrics.sessions.getCount() == before) {
            TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
        }
        session.close();
    }

    @Test
    void it_begins_with_the_channel_and_anew_after_each_attachment() throws Exception {
        assertThat(without()).as("no channel").isZero();
        host.channels.open(HostChannelEnd.plan(1, vm.socket()));
        host.advance(Duration.ofSeconds(7));
        assertThat(without()).hasSeconds(7);
        vm.attach();
        awaitAttached(1);
        host.advance(Duration.ofSeconds(7));
        assertThat(without()).as("attached").isZero();
        vm.stop();
        awaitAttached(0);
        host.advance(Duration.ofSeconds(5));
        assertThat(without()).hasSeconds(5);
        vm.attach();
        awaitAttached(1);
        assertThat(without()).isZero();
    }

    @Test
    void a_session_in_which_no_agent_attaches_does_not_begin_it_anew() throws Exception {
        host.channels.open(HostChannelEnd.plan(1, vm.socket()));
        host.advance(Duration.ofSeconds(5));
        endOneSession();
        // The host opens the next one when it has seen the end of the one before.
        endOneSession();
        host.advance(Duration.ofSeconds(4));
        assertThat(without()).hasSeconds(9);
    }
}
