package org.cloister.ovs;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Computes from plans alone which station reaches which. Senders that reach the same stations are one class, so that n
 * ports of a job need about n flows and not n times n.
 */
final class Reachability {
    /** A port of the bridge with the number that the switch assigned. */
    record BoundPort(PortPlan plan, int port) {}

    /**
     * A station to which frames may be sent.
     *
     * @param port null when it is behind the uplink
     * @param destinations null when everything sent to the station's own address is for itself
     */
    record Target(
            Endpoint endpoint,
            @Nullable Integer port,
            @Nullable Set<EgressDestination> destinations) implements Comparable<Target> {
        @Override
        public int compareTo(Target other) {
            int order = endpoint.compareTo(other.endpoint);
            // The same station twice in a set is rare: as a peer and as the gateway.
            return order == 0 ? way().compareTo(other.way()) : order;
        }

        private String way() {
            return port + " " + destinations;
        }
    }

    private final Map<String, BoundPort> local = new HashMap<>();
    private final Collection<BoundPort> bound;
    private final boolean hasUplink;

    Reachability(Collection<BoundPort> bound, boolean hasUplink) {
        this.bound = bound;
        this.hasUplink = hasUplink;
        bound.forEach(each -> local.put(key(each.plan().vlan(), each.plan().self()), each));
    }

    /**
     * Returns the targets of a local port, itself included: that makes the sets of a job's ports equal, and does no
     * harm.
     */
    Set<Target> from(BoundPort sender) {
        PortPlan plan = sender.plan();
        Set<Target> targets = new TreeSet<>();
        targets.add(new Target(plan.self(), sender.port(), null));
        for (Endpoint peer : plan.peers()) {
            BoundPort there = local.get(key(plan.vlan(), peer));
            if (there == null) {
                if (hasUplink) {
                    targets.add(new Target(peer, null, null));
                }
            } else if (there.plan().role() != PortRole.GATEWAY && accepts(there, plan.self())) {
                targets.add(new Target(peer, there.port(), null));
            }
        }
        Egress egress = plan.egress();
        if (egress != null && plan.role() != PortRole.GATEWAY) {
            wayOut(plan, egress, targets);
        }
        return targets;
    }

    private void wayOut(PortPlan plan, Egress egress, Set<Target> targets) {
        BoundPort gateway = local.get(key(plan.vlan(), egress.gateway()));
        if (gateway == null) {
            if (hasUplink) {
                targets.add(new Target(egress.gateway(), null, egress.destinations()));
            }
            return;
        }
        Egress offered = gateway.plan().egress();
        if (offered != null && gateway.plan().peers().contains(plan.self())) {
            Set<EgressDestination> both = new TreeSet<>(egress.destinations());
            both.retainAll(offered.destinations());
            targets.add(new Target(egress.gateway(), gateway.port(), Collections.unmodifiableSet(both)));
        }
    }

    /** Returns the stations behind the uplink that some port here has as a peer or gateway, by VLAN. */
    Map<Integer, Set<Endpoint>> remoteStations() {
        Map<Integer, Set<Endpoint>> unknownSenders = new TreeMap<>();
        for (BoundPort each : bound) {
            Set<Endpoint> known = new TreeSet<>(each.plan().peers());
            Egress egress = each.plan().egress();
            if (egress != null) {
                known.add(egress.gateway());
            }
            known.removeIf(endpoint -> local.containsKey(key(each.plan().vlan(), endpoint)));
            unknownSenders
                    .computeIfAbsent(each.plan().vlan(), vlan -> new TreeSet<>())
                    .addAll(known);
        }
        return unknownSenders;
    }

    /** Returns the local ports that have this station as a peer. */
    Set<Target> ofPeer(int vlan, Endpoint unknown) {
        Set<Target> targets = new TreeSet<>();
        for (BoundPort each : bound) {
            if (each.plan().vlan() == vlan && each.plan().peers().contains(unknown)) {
                Egress egress = each.plan().egress();
                targets.add(new Target(
                        each.plan().self(),
                        each.port(),
                        each.plan().role() == PortRole.GATEWAY && egress != null ? egress.destinations() : null));
            }
        }
        return targets;
    }

    /** Returns the local ports that reach this destination through this gateway. */
    Set<Target> ofGateway(int vlan, Endpoint unknown, EgressDestination destination) {
        Set<Target> targets = new TreeSet<>();
        for (BoundPort each : bound) {
            Egress egress = each.plan().egress();
            if (each.plan().vlan() == vlan
                    && egress != null
                    && egress.gateway().equals(unknown)
                    && egress.destinations().contains(destination)) {
                targets.add(new Target(each.plan().self(), each.port(), null));
            }
        }
        return targets;
    }

    /** Returns all destinations that ports here reach through this gateway. */
    Set<EgressDestination> destinations(int vlan, Endpoint gateway) {
        Set<EgressDestination> all = new TreeSet<>();
        for (BoundPort each : bound) {
            Egress egress = each.plan().egress();
            if (each.plan().vlan() == vlan && egress != null && egress.gateway().equals(gateway)) {
                all.addAll(egress.destinations());
            }
        }
        return all;
    }

    /**
     * Returns a number for a set of targets: half of a SHA-256's first 16 bytes, so that an attacker who chooses
     * addresses cannot in practice find two sets of one number. {@link FlowPipeline} refuses to build on a collision.
     */
    static long classOf(String from, int vlan, Set<Target> targets) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update((from + " " + vlan).getBytes(StandardCharsets.US_ASCII));
            for (Target target : targets) {
                String way = target.destinations() == null
                        ? ""
                        : target.destinations().toString();
                digest.update((" " + target.endpoint() + way).getBytes(StandardCharsets.US_ASCII));
            }
            return ByteBuffer.wrap(digest.digest()).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this JRE has no SHA-256", e);
        }
    }

    private static boolean accepts(BoundPort there, Endpoint sender) {
        Egress egress = there.plan().egress();
        return there.plan().peers().contains(sender)
                || (egress != null && egress.gateway().equals(sender));
    }

    private static String key(int vlan, Endpoint endpoint) {
        return vlan + " " + endpoint;
    }
}
