package org.cloister.vm.system.network;

import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.address.Ipv4Network;
import org.cloister.ipsec.EspMode;
import org.cloister.protocol.ticket.ProjectSubnet;

/**
 * A VM's address in its project's network, and the only machines there with which it may exchange packets.
 *
 * @param mac of its interface, in lower case
 * @param prefix of the project's network, 8 to 30 bits
 * @param mtu of the link; a tunnel's packets carry less, and the guard clamps TCP's segments to that
 * @param controller the controlling VM's address; in a controlling VM its own
 * @param peers workers: of the same job, or, in a controlling VM, all
 * @param esp where packets are encrypted
 */
public record NetworkPlan(
        String mac,
        Ipv4Address own,
        int prefix,
        int mtu,
        Ipv4Address controller,
        List<Ipv4Address> peers,
        EspMode esp) {
    private static final Pattern MAC = Pattern.compile("[0-9a-f]{2}(:[0-9a-f]{2}){5}");
    private static final int MIN_MTU = 576;
    private static final int MAX_MTU = 65_535;
    private static final int MAX_PEERS = 4096;

    /**
     * Checks all values.
     *
     * @throws IllegalArgumentException naming the value that is out of range
     */
    public NetworkPlan {
        peers = List.copyOf(peers);
        if (!MAC.matcher(mac).matches()) {
            throw new IllegalArgumentException("MAC: want " + MAC + ", have " + mac);
        }
        if (mtu < MIN_MTU || mtu > MAX_MTU) {
            throw new IllegalArgumentException("MTU: want " + MIN_MTU + " to " + MAX_MTU + ", have " + mtu);
        }
        if (peers.size() > MAX_PEERS || peers.contains(own)) {
            throw new IllegalArgumentException("peers: want at most " + MAX_PEERS + " others, have " + peers.size()
                    + (peers.contains(own) ? " and this one" : ""));
        }
        Ipv4Network network = networkOf(own, prefix);
        for (Ipv4Address each : peers) {
            requireIn(network, each);
        }
        requireIn(network, controller);
    }

    /** Returns the project's network. */
    public Ipv4Network network() {
        return networkOf(own, prefix);
    }

    /** Returns all other machines with which packets may be exchanged, each once, in order. */
    public List<Ipv4Address> others() {
        TreeSet<Ipv4Address> all = new TreeSet<>(peers);
        if (!controller.equals(own)) {
            all.add(controller);
        }
        return List.copyOf(all);
    }

    /** Returns this plan with other workers. */
    public NetworkPlan with(List<Ipv4Address> newPeers) {
        return new NetworkPlan(mac, own, prefix, mtu, controller, newPeers, esp);
    }

    private static void requireIn(Ipv4Network network, Ipv4Address address) {
        if (!network.contains(address)) {
            throw new IllegalArgumentException("address: want one of " + network + ", have " + address);
        }
    }

    private static Ipv4Network networkOf(Ipv4Address own, int prefix) {
        if (prefix < ProjectSubnet.SHORTEST || prefix > ProjectSubnet.LONGEST) {
            throw new IllegalArgumentException("prefix: want " + ProjectSubnet.SHORTEST + " to " + ProjectSubnet.LONGEST
                    + " bits, have " + prefix);
        }
        return Ipv4Network.of(own, prefix);
    }
}
