package org.cloister.host.machine;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.cloister.host.domain.DomainSpec;
import org.cloister.ovs.Destination;
import org.cloister.ovs.Egress;
import org.cloister.ovs.Endpoint;
import org.cloister.ovs.Ipv4;
import org.cloister.ovs.Ipv6;
import org.cloister.ovs.Mac;
import org.cloister.ovs.PortPlan;
import org.cloister.ovs.Rate;
import org.cloister.ovs.Role;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.StrictJson;
import org.jspecify.annotations.Nullable;

/** A port's part of a plan's document, without what follows from its VM: device and labels. */
final class PortDocument {
    private static final int MAX_VLAN = 4094;
    /** As many as a port plan takes. */
    private static final int MAX_PEERS = 4096;

    private static final int MAX_DESTINATIONS = 4096;
    private static final Pattern DESTINATION = Pattern.compile("[0-9.]{7,15}:(tcp|udp):[0-9]{1,5}");

    private PortDocument() {}

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
        Rate rate = port.rate();
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
                domain.owner().name().tap(),
                (int) json.number("vlan", 1, MAX_VLAN),
                endpoint(json.object("self")),
                PortMark.job(domain.owner()),
                Role.valueOf(json.text("role")),
                peers,
                json.has("egress") ? egress(json.object("egress")) : null,
                rate(json),
                PortMark.owner(domain.owner()));
        json.requireNothingElse();
        return port;
    }

    private static void write(Endpoint endpoint, ObjectNode json) {
        json.put("mac", endpoint.mac().text()).put("ipv4", endpoint.ipv4().text());
        Ipv6 ipv6 = endpoint.ipv6();
        if (ipv6 != null) {
            json.put("ipv6", ipv6.text());
        }
    }

    private static Endpoint endpoint(StrictJson json) throws MalformedException {
        Endpoint endpoint = new Endpoint(
                new Mac(json.text("mac")),
                new Ipv4(json.text("ipv4")),
                json.has("ipv6") ? new Ipv6(json.text("ipv6")) : null);
        json.requireNothingElse();
        return endpoint;
    }

    private static Egress egress(StrictJson json) throws MalformedException {
        Set<Destination> destinations = new TreeSet<>();
        for (String each : json.texts("destinations", MAX_DESTINATIONS, DESTINATION)) {
            destinations.add(Destination.parse(each));
        }
        Egress egress = new Egress(endpoint(json.object("gateway")), destinations);
        json.requireNothingElse();
        return egress;
    }

    private static @Nullable Rate rate(StrictJson json) throws MalformedException {
        if (!json.has("rate")) {
            return null;
        }
        StrictJson rate = json.object("rate");
        Rate read = new Rate((int) rate.number("kilobitsPerSecond", 1, Integer.MAX_VALUE), (int)
                rate.number("burstKilobits", 1, Integer.MAX_VALUE));
        rate.requireNothingElse();
        return read;
    }
}
