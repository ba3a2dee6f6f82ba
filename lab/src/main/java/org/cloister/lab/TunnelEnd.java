package org.cloister.lab;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.cloister.ipsec.TunnelEvent;
import org.cloister.ipsec.TunnelPlan;
import org.cloister.ipsec.Tunnels;
import org.cloister.ipsec.vici.IpsecException;

/** Maintains the tunnels of one end, as a VM's agent does. */
public final class TunnelEnd implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final Path socket;
    private final Tunnels tunnels;

    /** @param socket where its charon listens */
    public TunnelEnd(Path socket) {
        this(socket, event -> {});
    }

    /** @param listener see {@link Tunnels#open} */
    public TunnelEnd(Path socket, Consumer<TunnelEvent> listener) {
        this.socket = socket;
        this.tunnels = Tunnels.open(socket, listener);
    }

    /** Applies a plan; returns when charon has it. */
    public void applyPlan(TunnelPlan plan) throws IOException {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (true) {
            try {
                tunnels.replace(plan).get(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
                return;
            } catch (ExecutionException | TimeoutException e) {
                // A charon that was just started may not be connected yet.
                if (!(e.getCause() instanceof IpsecException.Disconnected) || System.nanoTime() > deadline) {
                    throw new LabException("plan for " + plan.self() + ": " + e.getMessage(), "read charon.log", e);
                }
                pause();
            } catch (InterruptedException e) {
                throw interrupted(e);
            }
        }
    }

    public boolean isUp(String peer) {
        return tunnels.states().getOrDefault(peer, false);
    }

    public void awaitUp(String peer, Duration limit) throws IOException {
        Poll.until("the tunnel to " + peer, limit, "read the log of the charon at " + socket, () -> isUp(peer));
    }

    public void awaitDown(String peer, Duration limit) throws IOException {
        Poll.until("the end of the tunnel to " + peer, limit, "read charon.log", () -> !isUp(peer));
    }

    @Override
    public void close() {
        tunnels.close();
    }

    private static void pause() throws LabException {
        try {
            TimeUnit.MILLISECONDS.sleep(20);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
    }

    private static LabException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        return new LabException("interrupted while charon was told", "start again", e);
    }
}
