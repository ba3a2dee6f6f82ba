package org.cloister.vm.system.tunnel;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
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
 * This VM's tunnels: a worker's to its controlling VM and its job's nodes, or a controlling VM's to its workers, which
 * change over time. charon may receive a plan later: the plan is sent until charon has it, and after each of charon's
 * starts. Thread-safe.
 */
public final class ProjectTunnels implements AutoCloseable {
    private static final Duration REPLACE_LIMIT = Duration.ofSeconds(10);
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
     * Opens the tunnels of a plan.
     *
     * @param listener receives an event for each tunnel that comes up, goes down or is rekeyed, on a thread that must
     *     not block
     */
    public static ProjectTunnels open(Path socket, TunnelPlan plan, Consumer<TunnelEvent> listener) {
        ProjectTunnels opened = new ProjectTunnels(Tunnels.open(socket, listener), plan);
        opened.sendFirst(plan);
        return opened;
    }

    /**
     * Adds peers, or changes their addresses, in one plan. Returns when charon has the plan, or will receive it later.
     */
    public synchronized void add(Collection<PinnedPeer> added) throws IOException {
        added.forEach(peer -> peers.put(peer.name(), peer));
        change(plan.with(List.copyOf(peers.values())));
    }

    /** Removes peers in one plan; their tunnels close at once. */
    public synchronized void remove(Collection<String> names) throws IOException {
        peers.keySet().removeAll(names);
        change(plan.with(List.copyOf(peers.values())));
    }

    /** Replaces the certificate; each tunnel moves to it before its old one closes. */
    public synchronized void renew(TunnelCredential credential) throws IOException {
        change(plan.with(credential));
    }

    /**
     * Replaces the certificate and the authorities of peers' certificates. Each tunnel moves before its old one closes;
     * the tunnel to a peer that does not trust the new certificate yet stays until it does.
     *
     * @param restarted name of a machine that was restarted and knows nothing of the existing tunnel
     */
    public synchronized void migrate(
            TunnelCredential credential, List<DerCertificate> authorities, Optional<String> restarted)
            throws IOException {
        if (restarted.isPresent()) {
            List<PinnedPeer> others = new ArrayList<>(peers.values());
            others.removeIf(peer -> peer.name().equals(restarted.get()));
            change(plan.with(others));
        }
        change(plan.with(credential).trusting(authorities).with(List.copyOf(peers.values())));
    }

    /** Returns whether the tunnel to that machine is up. */
    public boolean isUp(String name) {
        return tunnels.states().getOrDefault(name, false);
    }

    /**
     * Waits for charon and for the tunnel; charon keeps trying meanwhile.
     *
     * @throws IOException if the tunnel is not up within the limit
     */
    public void awaitUp(String name, Duration limit) throws IOException {
        long deadline = System.nanoTime() + limit.toNanos();
        requireKnown(name);
        while (!isUp(name)) {
            if (System.nanoTime() > deadline) {
                throw new IOException("tunnel to " + name + ": it is not up after " + limit.toSeconds() + " s; "
                        + "agentctl tunnel explain shows why");
            }
            pause();
        }
    }

    /** Closes the connection to charon; charon and its tunnels continue. */
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
        CompletableFuture<Void> replaced = tunnels.replace(next);
        try {
            replaced.get(REPLACE_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            // The plan is kept, and charon receives it when it is there.
            if (!(e.getCause() instanceof IpsecException.Disconnected)) {
                throw new IOException("tunnels of " + next.self() + ": " + e.getMessage(), e);
            }
        } catch (TimeoutException e) {
            throw new IOException(
                    "tunnels of " + next.self() + ": charon did not answer within " + REPLACE_LIMIT.toSeconds()
                            + " s; the plan is sent again",
                    e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("tunnels of " + next.self() + ": interrupted", e);
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // kept, and sent when charon answers
    private void sendFirst(TunnelPlan first) {
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
