package org.cloister.ovs.dns;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import org.cloister.base.address.Ipv4Address;

/**
 * Policy for accepting a resolver's answers, and for how long. The authority over a name chooses its addresses: without
 * this policy it could point at the project, at the gateway's own machine or at a destination that only that machine
 * reaches.
 *
 * @param own ranges that are never outside: the project's, the hosts', the management network's
 * @param domains whose names are not resolved by a resolver
 * @param refresh how often a name is resolved again
 * @param retry how soon after a failure
 * @param keep how long an answer is valid when no later one can be obtained
 * @param linger how long an address that a name no longer has may still be used, for connections that are open to it
 */
public record NameAnswerPolicy(
        Set<AddressPrefix> own,
        Set<HostName> domains,
        Duration refresh,
        Duration retry,
        Duration keep,
        Duration linger) {
    private static final int MAX_ADDRESSES = 16;

    public NameAnswerPolicy {
        own = Set.copyOf(own);
        domains = Set.copyOf(domains);
        if (retry.isNegative() || retry.isZero() || refresh.compareTo(retry) < 0 || keep.compareTo(refresh) < 0) {
            throw new IllegalArgumentException("name policy: want 0 < retry <= refresh <= keep, have retry " + retry
                    + ", refresh " + refresh + ", keep " + keep);
        }
        if (linger.isNegative() || linger.compareTo(keep) > 0) {
            throw new IllegalArgumentException(
                    "name policy: want 0 <= linger <= keep " + keep + ", have linger " + linger);
        }
    }

    public static NameAnswerPolicy of(Set<AddressPrefix> own, Set<HostName> domains) {
        return new NameAnswerPolicy(
                own, domains, Duration.ofMinutes(5), Duration.ofSeconds(30), Duration.ofHours(24), Duration.ofHours(1));
    }

    void requireForeign(HostName name) {
        for (HostName domain : domains) {
            if (name.isIn(domain)) {
                throw new IllegalArgumentException("name " + name + ": want one outside " + domain);
            }
        }
    }

    /**
     * Returns the addresses that plans can name. One forbidden address rejects the whole answer. IPv6 addresses are
     * left out, because egress has no IPv6.
     */
    Set<Ipv4Address> usable(HostName name, Collection<InetAddress> answer) throws NameRefusedException {
        if (answer.size() > MAX_ADDRESSES) {
            throw new NameRefusedException(
                    name, "at most " + MAX_ADDRESSES + " addresses", answer.size() + "", "name the hosts singly");
        }
        Set<Ipv4Address> usable = new TreeSet<>();
        for (InetAddress address : answer) {
            if (!isOutside(address)) {
                throw new NameRefusedException(
                        name,
                        "addresses outside this host and the ranges " + own,
                        address.getHostAddress(),
                        "ask who answers for this name; it keeps the addresses it had");
            }
            if (address instanceof Inet4Address) {
                usable.add(new Ipv4Address(address.getHostAddress()));
            }
        }
        if (usable.isEmpty()) {
            throw new NameRefusedException(
                    name, "an IPv4 address", answer.size() + " others", "use a name that has one: ways out are IPv4");
        }
        return usable;
    }

    private boolean isOutside(InetAddress address) {
        int first = address.getAddress()[0] & 0xff;
        boolean reserved = address instanceof Inet4Address && (first == 0 || first >= 240);
        return !reserved
                && !address.isAnyLocalAddress()
                && !address.isLoopbackAddress()
                && !address.isLinkLocalAddress()
                && !address.isMulticastAddress()
                && own.stream().noneMatch(range -> range.contains(address));
    }
}
