package org.cloister.ovs;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.address.MacAddress;

/** Plans as tests need them. */
final class PortPlanSamples {
    static final int VLAN = 301;

    private PortPlanSamples() {}

    static Endpoint endpoint(int number) {
        return Endpoint.of(
                new MacAddress(String.format("02:00:00:00:%02x:%02x", number >> 8, number & 0xff)),
                new Ipv4Address("10.77." + (number >> 8) + "." + (number & 0xff)));
    }

    static PortPlan worker(String device, Endpoint self, Endpoint... peers) {
        return new PortPlan(
                device, VLAN, self, "job1", PortRole.WORKER, Set.of(peers), null, null, "ticket1/" + device);
    }

    /** Jobs of this many workers, each among themselves, on devices PREFIX0, PREFIX1 and so on. */
    static List<PortPlan> jobs(String prefix, int jobs, int workers) {
        List<PortPlan> plans = new ArrayList<>();
        for (int job = 0; job < jobs; job++) {
            Set<Endpoint> all = new TreeSet<>();
            for (int i = 0; i < workers; i++) {
                all.add(endpoint(job * workers + i + 1));
            }
            for (int i = 0; i < workers; i++) {
                int number = job * workers + i;
                Set<Endpoint> peers = new TreeSet<>(all);
                peers.remove(endpoint(number + 1));
                plans.add(new PortPlan(
                        prefix + number,
                        VLAN,
                        endpoint(number + 1),
                        "job" + job,
                        PortRole.WORKER,
                        peers,
                        null,
                        null,
                        "ticket" + job + "/" + i));
            }
        }
        return plans;
    }
}
