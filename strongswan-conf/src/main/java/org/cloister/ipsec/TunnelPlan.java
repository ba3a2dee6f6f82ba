package org.cloister.ipsec;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.cloister.base.address.Ipv4Address;
import org.cloister.ipsec.vici.IpsecException.PlanRefused;

/**
 * Desired state of all tunnels of a VM, with their credentials.
 *
 * @param authorities the project's authorities, of which one must have issued a peer's certificate, in DER
 * @param revoked the newest list of revoked certificates of each authority, in DER
 */
public record TunnelPlan(
        TunnelIdentity self,
        Ipv4Address local,
        TunnelCredential credential,
        List<DerCertificate> authorities,
        List<DerRevocationList> revoked,
        List<PinnedPeer> peers,
        CipherProposal ike,
        CipherProposal esp,
        TunnelKeyLifetimes lifetimes,
        EspMode by) {
    public TunnelPlan {
        authorities = List.copyOf(authorities);
        revoked = List.copyOf(revoked);
        peers = List.copyOf(peers);
    }

    /** Returns a plan with default values for all optional settings. */
    public static TunnelPlan of(
            TunnelIdentity self,
            Ipv4Address local,
            TunnelCredential credential,
            List<DerCertificate> authorities,
            EspMode by)
            throws PlanRefused {
        return new TunnelPlan(
                        self,
                        local,
                        credential,
                        authorities,
                        List.of(),
                        List.of(),
                        CipherProposal.IKE,
                        CipherProposal.ESP,
                        TunnelKeyLifetimes.DEFAULT,
                        by)
                .checked();
    }

    public TunnelPlan with(Collection<PinnedPeer> all) throws PlanRefused {
        return new TunnelPlan(self, local, credential, authorities, revoked, List.copyOf(all), ike, esp, lifetimes, by)
                .checked();
    }

    /**
     * Returns the plan with another certificate and key: tunnels move to it one by one, each before its old one is
     * closed.
     */
    public TunnelPlan with(TunnelCredential newer) throws PlanRefused {
        return new TunnelPlan(self, local, newer, authorities, revoked, peers, ike, esp, lifetimes, by).checked();
    }

    /** Returns the plan with other authorities, for a project whose authority changes. */
    public TunnelPlan trusting(List<DerCertificate> others) throws PlanRefused {
        return new TunnelPlan(self, local, credential, others, revoked, peers, ike, esp, lifetimes, by).checked();
    }

    public TunnelPlan with(TunnelKeyLifetimes other) throws PlanRefused {
        return new TunnelPlan(self, local, credential, authorities, revoked, peers, ike, esp, other, by).checked();
    }

    /** Returns the plan without the named peers, and with the lists that revoke their certificates. */
    public TunnelPlan revoking(Set<String> names, List<DerRevocationList> lists) throws PlanRefused {
        List<PinnedPeer> rest = new ArrayList<>(peers);
        rest.removeIf(peer -> names.contains(peer.name()));
        return new TunnelPlan(self, local, credential, authorities, lists, rest, ike, esp, lifetimes, by).checked();
    }

    /** Returns the connections by name, in the order of the peers. */
    Map<String, TunnelConnection> connections() {
        Map<String, TunnelConnection> connections = new LinkedHashMap<>();
        for (PinnedPeer peer : peers) {
            TunnelConnection connection = new TunnelConnection(
                    peer, self, local, credential.certificate(), authorities, ike, esp, lifetimes, by);
            connections.put(connection.name(), connection);
        }
        return connections;
    }

    private TunnelPlan checked() throws PlanRefused {
        if (!credential.certificate().names().equals(List.of(self.toString()))) {
            throw new PlanRefused(
                    "certificate of " + self,
                    "its name and no other",
                    credential.certificate().names().toString(),
                    "have the controlling VM issue one for this machine");
        }
        if (authorities.isEmpty()) {
            throw new PlanRefused(
                    "tunnels of " + self, "the project's authority", "none", "take it from the hand-over");
        }
        Set<Object> seen = new HashSet<>(List.of(self, local));
        for (PinnedPeer peer : peers) {
            if (!peer.identity().project().equals(self.project())) {
                throw new PlanRefused(
                        "peer " + peer.name(),
                        "project " + self.project(),
                        peer.identity().project(),
                        "leave it out");
            }
            for (Object each : List.of(peer.name(), peer.identity(), peer.address())) {
                if (!seen.add(each)) {
                    throw new PlanRefused(
                            "peer " + peer.name(),
                            "a name, identity and address of its own",
                            each + " twice",
                            "give each once");
                }
            }
        }
        return this;
    }
}
