package org.cloister.vm.system.tunnel;

import java.util.ArrayList;
import java.util.List;
import org.cloister.base.address.Ipv4Address;
import org.cloister.ipsec.PinnedPeer;
import org.cloister.ipsec.TunnelIdentity;

/**
 * Another VM of the project.
 *
 * @param name short, as the job's nodes or the controlling VM call it
 */
public record TunnelPeer(String name, TunnelIdentity identity, Ipv4Address address) {
    /**
     * Returns the peers of a worker: it initiates the tunnel to its controlling VM at once and retries without limit,
     * and those to its job's other nodes when there is a packet for them.
     */
    public static List<PinnedPeer> peersOfWorker(TunnelPeer controller, List<TunnelPeer> job) {
        List<PinnedPeer> peers = new ArrayList<>();
        peers.add(controller.as(PinnedPeer.Start.INITIATE));
        for (TunnelPeer each : job) {
            peers.add(each.as(PinnedPeer.Start.ON_DEMAND));
        }
        return peers;
    }

    /** Returns the peers of a controlling VM: workers initiate. */
    public static List<PinnedPeer> peersOfController(List<TunnelPeer> workers) {
        return workers.stream().map(each -> each.as(PinnedPeer.Start.WAIT)).toList();
    }

    private PinnedPeer as(PinnedPeer.Start start) {
        return new PinnedPeer(name, identity, address, start);
    }
}
