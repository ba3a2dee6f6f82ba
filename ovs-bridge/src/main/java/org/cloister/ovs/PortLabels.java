package org.cloister.ovs;

import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.cloister.ovs.io.OvsException.Malformed;
import org.jspecify.annotations.Nullable;

/**
 * Encodes a complete plan as a port's {@code external_ids}, so that the port states its purpose and a lost ledger can
 * be rebuilt from the bridge.
 */
final class PortLabels {
    static final String AGENT = "cloister-agent";
    /** Label of the uplink, if the agent made its port. */
    static final String UPLINK = "cloister-uplink";

    private static final String OWNER = "cloister-owner";
    private static final String JOB = "cloister-job";
    private static final String ROLE = "cloister-role";
    private static final String SELF = "cloister-self";
    private static final String PEERS = "cloister-peers";
    private static final String GATEWAY = "cloister-gateway";
    private static final String DESTINATIONS = "cloister-destinations";
    private static final String RATE = "cloister-rate";

    /** Labels that identify the station: a port with another value of one of these is another port. */
    private static final Set<String> ENDPOINT_LABELS = Set.of(OWNER, JOB, ROLE, SELF);

    private PortLabels() {}

    /** Returns whether a row is for the station of a plan, without parsing it as a plan. */
    static boolean isSameStation(Map<String, String> row, Map<String, String> plan) {
        return ENDPOINT_LABELS.stream().allMatch(key -> Objects.equals(row.get(key), plan.get(key)));
    }

    static boolean isSame(Map<String, String> row, Map<String, String> plan) {
        return row.size() == plan.size() + 1
                && plan.entrySet().stream().allMatch(each -> each.getValue().equals(row.get(each.getKey())));
    }

    static Map<String, String> with(String agent, Map<String, String> labels) {
        Map<String, String> all = new TreeMap<>(labels);
        all.put(AGENT, agent);
        return all;
    }

    /** Returns all labels but the agent. */
    static Map<String, String> of(PortPlan plan) {
        Map<String, String> labels = new TreeMap<>();
        labels.put(OWNER, plan.owner());
        labels.put(JOB, plan.job());
        labels.put(ROLE, plan.role().name());
        labels.put(SELF, plan.self().toString());
        labels.put(PEERS, joined(plan.peers()));
        Egress egress = plan.egress();
        if (egress != null) {
            labels.put(GATEWAY, egress.gateway().toString());
            labels.put(DESTINATIONS, joined(egress.destinations()));
        }
        PortRate rate = plan.rate();
        if (rate != null) {
            labels.put(RATE, rate.kilobitsPerSecond() + " " + rate.burstKilobits());
        }
        return labels;
    }

    static PortPlan plan(String device, long vlan, Map<String, String> labels) throws Malformed {
        try {
            return new PortPlan(
                    device,
                    Math.toIntExact(vlan),
                    Endpoint.parse(require(labels, SELF)),
                    require(labels, JOB),
                    PortRole.valueOf(require(labels, ROLE)),
                    set(labels.getOrDefault(PEERS, ""), Endpoint::parse),
                    egress(labels),
                    rate(labels.get(RATE)),
                    require(labels, OWNER));
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw new Malformed("external_ids of port " + device, "a plan of ours", String.valueOf(e.getMessage()), e);
        }
    }

    private static @Nullable Egress egress(Map<String, String> labels) {
        String gateway = labels.get(GATEWAY);
        return gateway == null
                ? null
                : new Egress(
                        Endpoint.parse(gateway), set(labels.getOrDefault(DESTINATIONS, ""), EgressDestination::parse));
    }

    private static @Nullable PortRate rate(@Nullable String text) {
        if (text == null) {
            return null;
        }
        String[] parts = text.split(" ", -1);
        if (parts.length != 2) {
            throw new IllegalArgumentException("rate: want two numbers, have \"" + text + "\"");
        }
        return new PortRate(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]));
    }

    private static String joined(Collection<?> values) {
        return values.stream().map(Object::toString).collect(Collectors.joining(" "));
    }

    private static <T extends Comparable<T>> Set<T> set(String text, Function<String, T> parse) {
        return text.isEmpty()
                ? Set.of()
                : Arrays.stream(text.split(" ", -1)).map(parse).collect(Collectors.toCollection(TreeSet::new));
    }

    private static String require(Map<String, String> labels, String key) {
        String value = labels.get(key);
        if (value == null) {
            throw new IllegalArgumentException("no " + key);
        }
        return value;
    }
}
