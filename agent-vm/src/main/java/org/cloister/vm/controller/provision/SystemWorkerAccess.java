package org.cloister.vm.controller.provision;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.cloister.base.address.Ipv4Address;
import org.cloister.vm.controller.storage.NfsExports;
import org.cloister.vm.system.network.NetworkPlan;
import org.cloister.vm.system.network.ProjectInterface;
import org.cloister.vm.system.tunnel.ProjectTunnels;
import org.cloister.vm.system.tunnel.TunnelPeer;
import org.jspecify.annotations.Nullable;

/**
 * Grants access by the controlling VM's own peer filter, tunnels and exports. Access is opened from the inside
 * outwards: storage, tunnel, filter.
 */
public final class SystemWorkerAccess implements WorkerAccess {
    private final ProjectInterface networkInterface;
    private final ProjectTunnels tunnels;
    private final NfsExports exports;
    /** Admitted workers by address; each address belongs to one machine at a time. */
    private final Map<Ipv4Address, String> admitted = new TreeMap<>();

    private NetworkPlan plan;

    /** @param plan of the network interface now, without workers */
    public SystemWorkerAccess(
            ProjectInterface networkInterface, ProjectTunnels tunnels, NfsExports exports, NetworkPlan plan) {
        this.networkInterface = networkInterface;
        this.tunnels = tunnels;
        this.exports = exports;
        this.plan = plan;
    }

    @Override
    public synchronized void grant(Collection<Grant> grants) throws IOException {
        List<Grant> added = new ArrayList<>();
        for (Grant grant : grants) {
            requireFree(grant.worker());
        }
        for (Grant grant : grants) {
            if (admitted.put(grant.worker().address(), grant.worker().name()) == null) {
                added.add(grant);
            }
        }
        boolean done = false;
        try {
            exports.add(grants.stream().map(Grant::export).toList());
            tunnels.add(TunnelPeer.peersOfController(
                    grants.stream().map(Grant::worker).toList()));
            updatePeerFilter();
            done = true;
        } finally {
            if (!done) {
                revoke(added);
            }
        }
    }

    private void requireFree(TunnelPeer worker) throws IOException {
        String other = admitted.get(worker.address());
        if (other != null && !other.equals(worker.name())) {
            throw new IOException("address " + worker.address() + " of worker " + worker.name()
                    + ": still in use by worker " + other);
        }
    }

    @Override
    public synchronized void revoke(Collection<Grant> grants) throws IOException {
        List<Grant> present = grants.stream()
                .filter(grant ->
                        grant.worker().name().equals(admitted.get(grant.worker().address())))
                .toList();
        if (present.isEmpty()) {
            return;
        }
        present.forEach(grant -> admitted.remove(grant.worker().address()));
        IOException failure = attempt(this::updatePeerFilter, null);
        failure = attempt(
                () -> tunnels.remove(
                        present.stream().map(grant -> grant.worker().name()).toList()),
                failure);
        failure =
                attempt(() -> exports.remove(present.stream().map(Grant::export).toList()), failure);
        if (failure != null) {
            // Kept, so that it can be retried and no other worker gets the address.
            present.forEach(grant ->
                    admitted.put(grant.worker().address(), grant.worker().name()));
            throw failure;
        }
    }

    private void updatePeerFilter() throws IOException {
        NetworkPlan next = plan.with(List.copyOf(admitted.keySet()));
        networkInterface.replacePeers(next);
        plan = next;
    }

    private interface Step {
        void run() throws IOException;
    }

    private static @Nullable IOException attempt(Step step, @Nullable IOException previous) {
        try {
            step.run();
            return previous;
        } catch (IOException e) {
            if (previous == null) {
                return e;
            }
            previous.addSuppressed(e);
            return previous;
        }
    }
}
