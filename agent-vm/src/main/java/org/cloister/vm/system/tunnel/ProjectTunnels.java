package org.cloister.vm.system.tunnel;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.cloister.ipsec.DerCertificate;
import org.cloister.ipsec.PinnedPeer;
import org.cloister.ipsec.TunnelCredential;
import org.cloister.ipsec.TunnelEvent;
import org.cloister.ipsec.TunnelPlan;
import org.cloister.ipsec.Tunnels;
import org.cloister.ipsec.vici.IpsecException;

/**
 * This VM's tunnels: a worker's to its controlling VM and its job's nodes, or a controlling VM's to its workers, which come
 * and go. What it is told charon may hear later: it is told again until it knows, and after each of its starts. Any thread may
 * call.
 */
public final class ProjectTunnels implements AutoCloseable {
    private static final Duration TOLD = Duration.ofSeconds(10);
    private static final long PAUSE_MS = 50;

    private final Tunnels tunnels;
    private final Map<String, PinnedPeer> peers = new LinkedHashMap<>();
    private TunnelPlan plan;

    private ProjectTunnels(Tunnels tunnels, TunnelPlan plan) {
        this.tunnels = tunnels;
        this.plan = plan;
        plan.peers().forEach(peer -> peers.put(peer.name(), peer));
    }

    /**
     * @param listener hears of each tunnel that comes, goes or has new keys, on a thread that must not wait
     */
    public static ProjectTunnels open(Path socket, TunnelPlan plan, Consumer<TunnelEvent> listener) {
        ProjectTunnels opened = new ProjectTunnels(Tunnels.open(socket, listener), plan);
        opened.tell(plan);
        return opened;
    }

    /** One more, or the same one at another address. Done when charon has been told, or will be. */
    public synchronized void add(PinnedPeer peer) throws IOException {
        peers.put(peer.name(), peer);
        change(plan.with(List.copyOf(peers.values())));
    }

    /** Its tunnel ends at once. */
    public synchronized void remove(String name) throws IOException {
        peers.remove(name);
        change(plan.with(List.copyOf(peers.values())));
    }

    /** With another certificate; each tunnel moves to it before its old one goes. */
    public synchronized void renew(TunnelCredential credential) throws IOException {
        change(plan.with(credential));
    }

    /**
     * With another certificate, and other authorities of peers' certificates: each tunnel moves before its old one goes, and to
     * a peer that does not believe the new certificate yet the old one stays until it does.
     *
     * @param anew a machine that was started again, and knows nothing of the tunnel that there is
     */
    public synchronized void migrate(
            TunnelCredential credential, List<DerCertificate> authorities, Optional<String> anew) throws IOException {
        if (anew.isPresent()) {
            List<PinnedPeer> others = new ArrayList<>(peers.values());
            others.removeIf(peer -> peer.name().equals(anew.get()));
            change(plan.with(others));
        }
        change(plan.with(credential).trusting(authorities).with(List.copyOf(peers.values())));
    }

    /** Whether packets go through to that machine. */
    public boolean isUp(String name) {
        return tunnels.states().getOrDefault(name, false);
    }

    /**
     * Waits for charon, and for the tunnel; attempts are made all the while.
     *
     * @throws IOException if it is not up within the limit, with what charon says
     */
    public void awaitUp(String name, Duration limit) throws IOException {
        long deadline = System.nanoTime() + limit.toNanos();
        requireKnown(name);
        while (!isUp(name)) {
            if (System.nanoTime() > deadline) {
                throw new IOException("tunnel to " + name + ": want it within " + limit.toSeconds() + " s, have none; "
                        + "agentctl tunnel says why");
            }
            pause();
        }
    }

    /** Leaves charon and its tunnels as they are. */
    @Override
    public void close() {
        tunnels.close();
    }

    private synchronized void requireKnown(String name) {
        if (!peers.containsKey(name)) {
            throw new IllegalArgumentException("tunnel to " + name + ": want one of " + peers.keySet());
        }
    }

    private void change(TunnelPlan next) throws IOException {
        plan = next;
        CompletableFuture<Void> told = tunnels.replace(next);
        try {
            told.get(TOLD.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            // The plan is kept, and charon hears it when it is there.
            if (!(e.getCause() instanceof IpsecException.Disconnected)) {
                throw new IOException("tunnels of " + next.self() + ": " + e.getMessage(), e);
            }
        } catch (TimeoutException e) {
            throw new IOException(
                    "tunnels of " + next.self() + ": want charon told within " + TOLD.toSeconds()
                            + " s, have no answer; it is asked on",
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("tunnels of " + next.self() + ": interrupted", e);
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // kept, and told when charon answers
    private void tell(TunnelPlan first) {
        tunnels.replace(first);
    }

    private static void pause() throws IOException {
        try {
            TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("tunnel: interrupted", e);
        }
    }
}
