package org.cloister.ipsec;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.cloister.base.address.Ipv4Address;
import org.jspecify.annotations.Nullable;

/** A machine, its tunnels and what they said. */
final class TunnelTestPeer implements AutoCloseable {
    final BlockingQueue<TunnelEvent> events = new LinkedBlockingQueue<>();
    final CharonHost host;
    private @Nullable Tunnels tunnels;

    TunnelTestPeer() {
        try {
            host = CharonHost.make();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    Tunnels tunnels() {
        if (tunnels == null) {
            tunnels = Tunnels.open(host.socket(), events::add);
        }
        return tunnels;
    }

    /** Starts charon and waits until we are connected. */
    void start() throws Exception {
        host.startCharon();
        tunnels();
        await(TunnelEvent.CharonState.class, 5);
    }

    void applyPlan(TunnelPlan plan) throws Exception {
        tunnels().replace(plan).get(5, TimeUnit.SECONDS);
    }

    <E extends TunnelEvent> E await(Class<E> type, long seconds) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        StringBuilder received = new StringBuilder();
        while (true) {
            TunnelEvent event = events.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            assertThat(event)
                    .as("want %s in %s s, heard %s; log: %s", type.getSimpleName(), seconds, received, tail())
                    .isNotNull();
            if (type.isInstance(event)) {
                return type.cast(event);
            }
            received.append(event).append(' ');
        }
    }

    boolean pings(Ipv4Address address) {
        try {
            host.run("ping", "-c1", "-W1", address.text());
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private String tail() throws IOException {
        String log = host.log();
        return log.substring(Math.max(0, log.length() - 3_000));
    }

    @Override
    public void close() throws IOException {
        if (tunnels != null) {
            tunnels.close();
        }
        host.close();
    }
}
