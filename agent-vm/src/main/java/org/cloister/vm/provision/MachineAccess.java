package org.cloister.vm.provision;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.cloister.ipsec.Address;
import org.cloister.ipsec.Peer;
import org.cloister.vm.network.NetworkPlan;
import org.cloister.vm.network.Uplink;
import org.cloister.vm.storage.Export;
import org.cloister.vm.storage.Exports;
import org.cloister.vm.tunnel.Machine;
import org.cloister.vm.tunnel.ProjectTunnels;
import org.jspecify.annotations.Nullable;

/** The controlling VM's own guard, tunnels and exports. A way in is opened from within: storage, tunnel, guard. */
public final class MachineAccess implements Access {
    private final Uplink uplink;
    private final ProjectTunnels tunnels;
    private final Exports exports;
    /** By their addresses, each of one machine at a time. */
    private final Map<Address, String> admitted = new TreeMap<>();

    private NetworkPlan plan;

    /** @param plan as the uplink is now, without workers */
    public MachineAccess(Uplink uplink, ProjectTunnels tunnels, Exports exports, NetworkPlan plan) {
        this.uplink = uplink;
        this.tunnels = tunnels;
        this.exports = exports;
        this.plan = plan;
    }

    @Override
    public synchronized void admit(Machine worker, Export export) throws IOException {
        String before = admitted.putIfAbsent(worker.address(), worker.name());
        if (before != null && !before.equals(worker.name())) {
            throw new IOException("address " + worker.address() + " of worker " + worker.name()
                    + ": want a free one, have that of " + before);
        }
        boolean done = false;
        try {
            exports.add(export);
            for (Peer peer : Machine.peersOfController(List.of(worker))) {
                tunnels.add(peer);
            }
            guard();
            done = true;
        } finally {
            if (!done) {
                dismiss(worker, export);
            }
        }
    }

    @Override
    public synchronized void dismiss(Machine worker, Export export) throws IOException {
        if (!worker.name().equals(admitted.get(worker.address()))) {
            return;
        }
        admitted.remove(worker.address());
        IOException failure = attempt(this::guard, null);
        failure = attempt(() -> tunnels.remove(worker.name()), failure);
        failure = attempt(() -> exports.remove(export), failure);
        if (failure != null) {
            // Known still, so that it can be tried again and nobody else gets the address.
            admitted.put(worker.address(), worker.name());
            throw failure;
        }
    }

    private void guard() throws IOException {
        NetworkPlan next = plan.with(List.copyOf(admitted.keySet()));
        uplink.replacePeers(next);
        plan = next;
    }

    private interface Step {
        void run() throws IOException;
    }

    private static @Nullable IOException attempt(Step step, @Nullable IOException before) {
        try {
            step.run();
            return before;
        } catch (IOException e) {
            if (before == null) {
                return e;
            }
            before.addSuppressed(e);
            return before;
        }
    }
}
