package org.cloister.ovs;

import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.cloister.ovs.io.OvsException.PlanRefused;
import org.jspecify.annotations.Nullable;

/**
 * Plans that can be on one bridge together: every device once, and within a VLAN every address in one endpoint only.
 */
record PortPlanSet(Map<String, PortPlan> byDevice, Map<String, Map<String, String>> labels) {
    /**
     * Maximum number of ports. The bridge's port numbers are 16 bits wide, and a released one must not be reused at
     * once.
     */
    private static final int MAX_PORTS = 4096;

    static final PortPlanSet NONE = new PortPlanSet(Map.of(), Map.of());

    PortPlanSet {
        byDevice = Collections.unmodifiableMap(new TreeMap<>(byDevice));
        labels = Map.copyOf(labels);
    }

    static PortPlanSet of(Collection<PortPlan> plans) throws PlanRefused {
        return NONE.with(plans);
    }

    Collection<PortPlan> plans() {
        return byDevice.values();
    }

    /** Returns the labels that a row of this plan has, without the agent. */
    Map<String, String> labels(String device) {
        return labels.getOrDefault(device, Map.of());
    }

    @Nullable
    PortPlan get(String device) {
        return byDevice.get(device);
    }

    /** Returns the set with more plans; a plan of the same device is replaced. */
    PortPlanSet with(Collection<PortPlan> more) throws PlanRefused {
        Map<String, PortPlan> added = new LinkedHashMap<>();
        for (PortPlan plan : more) {
            if (added.put(plan.device(), plan) != null) {
                throw new PlanRefused(
                        "plans", "each device once", plan.device() + " twice", "give each port a device of its own");
            }
        }
        Map<String, PortPlan> all = new TreeMap<>(byDevice);
        all.putAll(added);
        if (all.size() > MAX_PORTS) {
            throw new PlanRefused("plans", "at most " + MAX_PORTS + " ports", all.size() + "", "use more hosts");
        }
        Map<String, Map<String, String>> allLabels = new HashMap<>(labels);
        added.forEach((device, plan) -> allLabels.put(device, PortLabels.of(plan)));
        PortPlanSet set = new PortPlanSet(all, allLabels);
        set.requireOneEndpointPerAddress();
        return set;
    }

    PortPlanSet without(Collection<String> devices) {
        Map<String, PortPlan> all = new TreeMap<>(byDevice);
        all.keySet().removeAll(devices);
        Map<String, Map<String, String>> rest = new HashMap<>(labels);
        rest.keySet().removeAll(devices);
        return new PortPlanSet(all, rest);
    }

    void requirePrefix(String prefix) throws PlanRefused {
        for (String device : byDevice.keySet()) {
            if (!device.startsWith(prefix)) {
                throw new PlanRefused(
                        "port " + device,
                        "a device whose name begins with " + prefix,
                        device,
                        "name it so: the host's own stack is kept away from such devices only");
            }
        }
    }

    private void requireOneEndpointPerAddress() throws PlanRefused {
        Map<String, Endpoint> known = new HashMap<>();
        Map<String, String> stations = new HashMap<>();
        for (PortPlan plan : plans()) {
            String address = plan.vlan() + " " + plan.self().mac();
            String other = stations.put(address, plan.device());
            if (other != null) {
                throw new PlanRefused(
                        "port " + plan.device(),
                        "a station that no other port has",
                        plan.self() + " in VLAN " + plan.vlan() + ", which is also behind " + other,
                        "give each port addresses of its own");
            }
            claim(known, plan, plan.self());
            for (Endpoint peer : plan.peers()) {
                claim(known, plan, peer);
            }
            Egress egress = plan.egress();
            if (egress != null) {
                claim(known, plan, egress.gateway());
            }
        }
    }

    private static void claim(Map<String, Endpoint> known, PortPlan plan, Endpoint endpoint) throws PlanRefused {
        claim(known, plan, endpoint, endpoint.mac().text());
        claim(known, plan, endpoint, endpoint.ipv4().text());
        Ipv6Address ipv6 = endpoint.ipv6();
        if (ipv6 != null) {
            claim(known, plan, endpoint, ipv6.text());
        }
    }

    private static void claim(Map<String, Endpoint> known, PortPlan plan, Endpoint endpoint, String address)
            throws PlanRefused {
        Endpoint other = known.putIfAbsent(plan.vlan() + " " + address, endpoint);
        if (other != null && !other.equals(endpoint)) {
            throw new PlanRefused(
                    "port " + plan.device(),
                    "each address in one endpoint of VLAN " + plan.vlan(),
                    address + " in " + other + " and in " + endpoint,
                    "correct the addresses that were given out");
        }
    }
}
