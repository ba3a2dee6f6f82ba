package org.cloister.host.resources;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.address.MacAddress;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.host.domain.DomainSpec;
import org.cloister.ovs.Egress;
import org.cloister.ovs.EgressDestination;
import org.cloister.ovs.Endpoint;
import org.cloister.ovs.Ipv6Address;
import org.cloister.ovs.PortPlan;
import org.cloister.ovs.PortRate;
import org.cloister.ovs.PortRole;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes a port's part of a plan's document, without the values that follow from its VM: device and labels.
 */
final class PortPlanJson {
    private static final int MAX_VLAN = 4094;
    /** Maximum of peers in a port plan. */
    private static final int MAX_PEERS = 4096;

    private static final int MAX_DESTINATIONS = 4096;
    private static final Pattern DESTINATION = Pattern.compile("[0-9.]{7,15}:(tcp|udp):[0-9]{1,5}");

    private PortPlanJson() {}

    static void write(PortPlan port, ObjectNode json) {
        json.put("vlan", port.vlan());
        write(port.self(), json.putObject("self"));
        json.put("role", port.role().name());
        if (!port.peers().isEmpty()) {
            ArrayNode peers = json.putArray("peers");
            port.peers().forEach(peer -> write(peer, peers.addObject()));
        }
        Egress egress = port.egress();
        if (egress != null) {
            ObjectNode out = json.putObject("egress");
            write(egress.gateway(), out.putObject("gateway"));
            ArrayNode destinations = out.putArray("destinations");
            egress.destinations().forEach(each -> destinations.add(each.toString()));
        }
        PortRate rate = port.rate();
        if (rate != null) {
            json.putObject("rate")
                    .put("kilobitsPerSecond", rate.kilobitsPerSecond())
                    .put("burstKilobits", rate.burstKilobits());
        }
    }

    static PortPlan read(DomainSpec domain, StrictJson json) throws MalformedException {
        Set<Endpoint> peers = new TreeSet<>();
        if (json.has("peers")) {
            for (StrictJson each : json.objects("peers", MAX_PEERS)) {
                peers.add(endpoint(each));
            }
        }
        PortPlan port = new PortPlan(
                domain.owner().names().tap(),
                (int) json.number("vlan", 1, MAX_VLAN),
                endpoint(json.object("self")),
                PortOwnerLabels.job(domain.owner()),
                PortRole.valueOf(json.text("role")),
                peers,
                json.has("egress") ? egress(json.object("egress")) : null,
                rate(json),
                PortOwnerLabels.owner(domain.owner()));
        json.requireNothingElse();
        return port;
    }

    private static void write(Endpoint endpoint, ObjectNode json) {
        json.put("mac", endpoint.mac().text()).put("ipv4", endpoint.ipv4().text());
        Ipv6Address ipv6 = endpoint.ipv6();
        if (ipv6 != null) {
            json.put("ipv6", ipv6.text());
        }
    }

    private static Endpoint endpoint(StrictJson json) throws MalformedException {
        Endpoint endpoint = new Endpoint(
                new MacAddress(json.text("mac")),
                new Ipv4Address(json.text("ipv4")),
                json.has("ipv6") ? new Ipv6Address(json.text("ipv6")) : null);
        json.requireNothingElse();
        return endpoint;
    }

    private static Egress egress(StrictJson json) throws MalformedException {
        Set<EgressDestination> destinations = new TreeSet<>();
        for (String each : json.texts("destinations", MAX_DESTINATIONS, DESTINATION)) {
            destinations.add(EgressDestination.parse(each));
        }
        Egress egress = new Egress(endpoint(json.object("gateway")), destinations);
        json.requireNothingElse();
        return egress;
    }

    private static @Nullable PortRate rate(StrictJson json) throws MalformedException {
        if (!json.has("rate")) {
            return null;
        }
        StrictJson rate = json.object("rate");
        PortRate read = new PortRate((int) rate.number("kilobitsPerSecond", 1, Integer.MAX_VALUE), (int)
                rate.number("burstKilobits", 1, Integer.MAX_VALUE));
        rate.requireNothingElse();
        return read;
    }
}
