package org.cloister.vm.tunnel;

import java.util.ArrayList;
import java.util.List;
import org.cloister.ipsec.Address;
import org.cloister.ipsec.Identity;
import org.cloister.ipsec.Peer;

/**
 * Another VM of the project.
 *
 * @param name short, as the job's nodes or the controlling VM call it
 */
public record Machine(String name, Identity identity, Address address) {
    /** Of a worker: it calls its controlling VM at once and for ever, and others of its job when there is a packet for them. */
    public static List<Peer> peersOfWorker(Machine controller, List<Machine> job) {
        List<Peer> peers = new ArrayList<>();
        peers.add(controller.as(Peer.Start.INITIATE));
        for (Machine each : job) {
            peers.add(each.as(Peer.Start.ON_DEMAND));
        }
        return peers;
    }

    /** Of a controlling VM: workers call. */
    public static List<Peer> peersOfController(List<Machine> workers) {
        return workers.stream().map(each -> each.as(Peer.Start.WAIT)).toList();
    }

    private Peer as(Peer.Start start) {
        return new Peer(name, identity, address, start);
    }
}
