package org.cloister.relay.links;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.link.ProtocolVersions;
import org.cloister.relay.fairness.RelayLimits;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.StreamRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A stranger who keeps as many silent connections as the relay allows, and agents who come all the same. */
@Tag("boundary")
@Timeout(120)
@SuppressWarnings("NullAway") // set up before each
class SilentConnectionsTest {
    private static final int AT_ONCE = 8;
    private static final RelayLimits FEW =
            new RelayLimits(100, AT_ONCE, 10, 50, Duration.ofMinutes(1), Duration.ofSeconds(1));

    @TempDir
    private Path state;

    private RelayFixture fixture;

    @BeforeEach
    void start() throws Exception {
        fixture = new RelayFixture(state, FEW);
    }

    @AfterEach
    void stop() {
        fixture.close();
    }

    /** Holds silent connections from one address, and opens another one for each that the relay closes. */
    private static final class SilentClient implements AutoCloseable {
        private final List<Thread> threads = new ArrayList<>();
        private final List<Socket> open = new ArrayList<>();
        private final CountDownLatch started;
        private boolean ended;

        SilentClient(InetSocketAddress relay, String from, int connections) throws Exception {
            started = new CountDownLatch(connections);
            InetAddress own = InetAddress.getByName(from);
            for (int i = 0; i < connections; i++) {
                Thread thread = new Thread(() -> renew(relay, own), "silent-" + i);
                threads.add(thread);
                thread.start();
            }
            assertThat(started.await(20, TimeUnit.SECONDS)).isTrue();
        }

        private void renew(InetSocketAddress relay, InetAddress own) {
            boolean first = true;
            while (true) {
                try (Socket socket = new Socket(relay.getAddress(), relay.getPort(), own, 0)) {
                    if (!isOpen(socket)) {
                        return;
                    }
                    if (first) {
                        started.countDown();
                        first = false;
                    }
                    while (socket.getInputStream().read() >= 0) {
                        // An alert may come before the end.
                    }
                } catch (IOException e) {
                    // The relay closed it: the next one.
                }
            }
        }

        private synchronized boolean isOpen(Socket socket) {
            if (!ended) {
                open.add(socket);
            }
            return !ended;
        }

        @Override
        public void close() throws IOException {
            synchronized (this) {
                ended = true;
                for (Socket each : open) {
                    each.close();
                }
            }
        }
    }

    @Test
    void an_agent_of_another_address_comes_in_while_a_stranger_holds_all_places_and_renews_them() throws Exception {
        try (SilentClient otherMember = new SilentClient(fixture.relay.address(), "127.0.0.2", 2 * AT_ONCE)) {
            assertThat(otherMember.threads).hasSize(2 * AT_ONCE);
            for (int i = 0; i < 5; i++) {
                ClientLink link = fixture.link(fixture.device);
                Channel attach =
                        RelayFixture.get(link.open(new StreamRequest.Attach(ProtocolVersions.OURS), stream -> {}));
                assertThat(attach.isActive()).isTrue();
            }
        }
        assertThat(fixture.metrics.linksDisplaced.getCount()).isPositive();
    }

    @Test
    void many_agents_of_one_address_that_come_at_once_do_not_end_each_other() throws Exception {
        List<Thread> dials = new ArrayList<>();
        CountDownLatch in = new CountDownLatch(3 * AT_ONCE);
        for (int i = 0; i < 3 * AT_ONCE; i++) {
            Thread dial = new Thread(() -> attach(in), "agent-" + i);
            dials.add(dial);
            dial.start();
        }
        for (Thread each : dials) {
            each.join(TimeUnit.SECONDS.toMillis(60));
        }
        assertThat(in.getCount()).as("agents that did not come in").isZero();
    }

    /** Tries again as agents do, for as long as half a minute. */
    private void attach(CountDownLatch in) {
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (System.nanoTime() - endNs < 0) {
            try {
                RelayFixture.get(fixture.link(fixture.device)
                        .open(new StreamRequest.Attach(ProtocolVersions.OURS), stream -> {}));
                in.countDown();
                return;
            } catch (Exception e) {
                // Refused because of the limit, as the others of the crowd: the next try.
            }
        }
    }
}
