package org.cloister.ipsec;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.cloister.ipsec.vici.IpsecException.PlanRefused;

/**
 * All tunnels that a VM should have, and what they are made with.
 *
 * @param authorities whose certificates the peers' must be issued by: the project's own, in DER
 * @param revoked the newest list of revoked certificates of each authority, in DER
 */
public record Plan(
        Identity self,
        Address local,
        Credential credential,
        List<Certificate> authorities,
        List<Crl> revoked,
        List<Peer> peers,
        Proposal ike,
        Proposal esp,
        Lifetimes lifetimes,
        Esp by) {
    public Plan {
        authorities = List.copyOf(authorities);
        revoked = List.copyOf(revoked);
        peers = List.copyOf(peers);
    }

    /** With the defaults for all that has one. */
    public static Plan of(Identity self, Address local, Credential credential, List<Certificate> authorities, Esp by)
            throws PlanRefused {
        return new Plan(
                        self,
                        local,
                        credential,
                        authorities,
                        List.of(),
                        List.of(),
                        Proposal.IKE,
                        Proposal.ESP,
                        Lifetimes.DEFAULT,
                        by)
                .checked();
    }

    public Plan with(Collection<Peer> all) throws PlanRefused {
        return new Plan(self, local, credential, authorities, revoked, List.copyOf(all), ike, esp, lifetimes, by)
                .checked();
    }

    /** With another certificate and key: tunnels move to it one by one, each before its old one goes. */
    public Plan with(Credential newer) throws PlanRefused {
        return new Plan(self, local, newer, authorities, revoked, peers, ike, esp, lifetimes, by).checked();
    }

    /** For a project whose authority changes. */
    public Plan trusting(List<Certificate> others) throws PlanRefused {
        return new Plan(self, local, credential, others, revoked, peers, ike, esp, lifetimes, by).checked();
    }

    public Plan with(Lifetimes other) throws PlanRefused {
        return new Plan(self, local, credential, authorities, revoked, peers, ike, esp, other, by).checked();
    }

    /** Without peers, and with the lists that say that their certificates are revoked. */
    public Plan revoking(Set<String> names, List<Crl> lists) throws PlanRefused {
        List<Peer> rest = new ArrayList<>(peers);
        rest.removeIf(peer -> names.contains(peer.name()));
        return new Plan(self, local, credential, authorities, lists, rest, ike, esp, lifetimes, by).checked();
    }

    /** By name, in the order of the peers. */
    Map<String, Connection> connections() {
        Map<String, Connection> connections = new LinkedHashMap<>();
        for (Peer peer : peers) {
            Connection connection =
                    new Connection(peer, self, local, credential.certificate(), authorities, ike, esp, lifetimes, by);
            connections.put(connection.name(), connection);
        }
        return connections;
    }

    private Plan checked() throws PlanRefused {
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
        for (Peer peer : peers) {
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
