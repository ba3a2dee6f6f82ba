package org.cloister.ovs.dns;

import java.net.InetAddress;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.cloister.base.address.Ipv4Address;
import org.cloister.ovs.EgressDestination;
import org.cloister.ovs.NetworkService;

/**
 * Present addresses of the named services of a project. It has no clock and does no I/O: its owner resolves the names
 * that are {@link #due}, reports the answers, and passes the resulting destinations to plans and machines.
 * {@code nowNs} never decreases.
 */
public final class ResolvedNames {
    private static final int MAX_NAMES = 64;

    private final NameAnswerPolicy policy;
    private final Map<HostName, Set<NetworkService>> services = new TreeMap<>();
    private final Map<HostName, Entry> entries = new HashMap<>();

    public ResolvedNames(NameAnswerPolicy policy, Collection<NamedEgressDestination> destinations) {
        this.policy = policy;
        for (NamedEgressDestination each : destinations) {
            policy.requireForeign(each.name());
            services.computeIfAbsent(each.name(), name -> new TreeSet<>()).add(each.service());
        }
        if (services.size() > MAX_NAMES) {
            throw new IllegalArgumentException("names: want at most " + MAX_NAMES + ", have " + services.size());
        }
    }

    /** A name's addresses, each with the time until which it may be used; those of the last answer expire together. */
    private static final class Entry {
        private final Map<Ipv4Address, Long> untilNs = new TreeMap<>();
        private Set<Ipv4Address> latest = Set.of();
        private long nextNs;
    }

    /** Returns the names to be resolved now, in order. */
    public List<HostName> due(long nowNs) {
        return services.keySet().stream()
                .filter(name -> !entries.containsKey(name) || entry(name).nextNs - nowNs <= 0)
                .toList();
    }

    /** @throws NameRefusedException the answer must not be used; the name keeps its addresses, as after a failure */
    public void onAnswer(HostName name, Collection<InetAddress> answer, long nowNs) throws NameRefusedException {
        Entry entry = entry(name);
        entry.nextNs = nowNs + policy.retry().toNanos();
        Set<Ipv4Address> usable = policy.usable(name, answer);
        entry.nextNs = nowNs + policy.refresh().toNanos();
        for (Ipv4Address gone : entry.latest) {
            long lingers = nowNs + policy.linger().toNanos();
            entry.untilNs.computeIfPresent(gone, (address, until) -> until - lingers < 0 ? until : lingers);
        }
        usable.forEach(
                address -> entry.untilNs.put(address, nowNs + policy.keep().toNanos()));
        entry.latest = usable;
    }

    /** Records that the resolution itself failed. */
    public void onFailure(HostName name, long nowNs) {
        entry(name).nextNs = nowNs + policy.retry().toNanos();
    }

    /** Returns the destinations that plans should permit; they change only with an answer or with time. */
    public Set<EgressDestination> destinations(long nowNs) {
        Set<EgressDestination> destinations = new TreeSet<>();
        entries.forEach((name, entry) -> {
            entry.untilNs.values().removeIf(until -> until - nowNs <= 0);
            for (Ipv4Address address : entry.untilNs.keySet()) {
                services.getOrDefault(name, Set.of())
                        .forEach(service -> destinations.add(EgressDestination.of(address, service)));
            }
        });
        return destinations;
    }

    /** Returns lines of hosts(5), {@code ADDRESS NAME}, of the last valid answers, in a deterministic order. */
    public String hosts(long nowNs) {
        StringBuilder lines = new StringBuilder();
        for (HostName name : services.keySet()) {
            Entry entry = entries.get(name);
            if (entry != null) {
                entry.latest.stream()
                        .filter(address -> entry.untilNs.getOrDefault(address, nowNs) - nowNs > 0)
                        .forEach(address ->
                                lines.append(address).append(' ').append(name).append('\n'));
            }
        }
        return lines.toString();
    }

    private Entry entry(HostName name) {
        if (!services.containsKey(name)) {
            throw new IllegalArgumentException("name " + name + ": not in this book");
        }
        return entries.computeIfAbsent(name, key -> new Entry());
    }
}
