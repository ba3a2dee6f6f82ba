package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.cloister.lab.scenario.NumberedFrames.ip;
import static org.cloister.lab.scenario.NumberedFrames.ipv4;
import static org.cloister.lab.scenario.NumberedFrames.mac;
import static org.cloister.lab.scenario.NumberedFrames.udp;

import com.codahale.metrics.MetricRegistry;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.address.MacAddress;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHost;
import org.cloister.ovs.Endpoint;
import org.cloister.ovs.PortPlan;
import org.cloister.ovs.PortRate;
import org.cloister.ovs.PortRole;
import org.cloister.ovs.SecureBridge;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A port's rate holds what it sends, in frames counted at the receiver on the other host, and nothing else. */
@Tag("scenario")
@Tag("ovs")
@ExtendWith(SharedLab.class)
class RateTest {
    private static final int VLAN = 313;
    private static final PortRate RATE = new PortRate(2000, 200);
    private static final int FRAME_BYTES = 1000;
    /** Five times the rate. */
    private static final int FRAMES_A_SECOND = 1250;

    private static final int FRAMES = FRAMES_A_SECOND * 3 / 2;
    /** The userspace meter counts in whole milliseconds, and the last frames of a burst may still count on. */
    private static final double ABOVE = 1.1;

    private static final double BELOW = 0.5;
    /** Twice what the rate would let through. All arrive, unless vswitchd gets no processor and its sockets overflow. */
    private static final int MOST_OF_THEM = FRAMES / 2;

    private static final long ON_THE_WAY_MILLIS = 300;
    private static final Endpoint LIMITED = endpoint(1);
    private static final Endpoint FREE = endpoint(2);
    private static final Endpoint TARGET = endpoint(3);

    private final Lab lab;

    RateTest(Lab lab) {
        this.lab = lab;
    }

    @Test
    void a_rate_holds_what_a_port_sends_and_not_what_it_receives() throws IOException {
        try (NamespaceMachines machines = new NamespaceMachines(lab);
                SecureBridge one = open(lab.host(1));
                SecureBridge two = open(lab.host(2))) {
            machines.enter("slow", lab.host(1));
            machines.enter("free", lab.host(1));
            machines.enter("target", lab.host(2));
            one.replace(List.of(plan("slow", LIMITED, RATE, FREE, TARGET), plan("free", FREE, null, LIMITED, TARGET)));
            two.replace(List.of(plan("target", TARGET, null, LIMITED, FREE)));
            try {
                assertThat(burst(machines, "free", FREE, "target", TARGET).arrived())
                        .isGreaterThan(MOST_OF_THEM);
                assertThat(burst(machines, "target", TARGET, "slow", LIMITED).arrived())
                        .isGreaterThan(MOST_OF_THEM);
                Burst limited = burst(machines, "slow", LIMITED, "target", TARGET);
                double kilobits = limited.arrived() * FRAME_BYTES * 8 / 1e3;
                double earned = RATE.kilobitsPerSecond() * limited.seconds();
                assertThat(kilobits).isBetween(BELOW * earned, ABOVE * (earned + RATE.burstKilobits()));
                // What one port may not send is not taken from another.
                assertThat(burst(machines, "free", FREE, "target", TARGET).arrived())
                        .isGreaterThan(MOST_OF_THEM);
            } finally {
                one.replace(List.of());
                two.replace(List.of());
            }
        } finally {
            for (LabHost host : lab.hosts()) {
                host.ovs().ofctl("del-flows", "br-secure");
            }
        }
    }

    private record Burst(int arrived, double seconds) {}

    private static Burst burst(NamespaceMachines machines, String from, Endpoint sender, String to, Endpoint target)
            throws IOException {
        byte[] datagram = Arrays.copyOf(udp(4000, 4000), FRAME_BYTES - 12 - 14 - 20);
        byte[] frame = ipv4(
                mac(target),
                mac(sender),
                ip(sender.ipv4().text()),
                ip(target.ipv4().text()),
                17,
                datagram);
        int first = machines.send(from, frame);
        int last = first;
        long start = System.nanoTime();
        while (last < first + FRAMES - 1) {
            long due = (System.nanoTime() - start) * FRAMES_A_SECOND / TimeUnit.SECONDS.toNanos(1);
            while (last < Math.min(first + due, first + FRAMES - 1)) {
                last = machines.send(from, frame);
            }
            machines.receive();
            BridgeFixture.sleep(1);
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        BridgeFixture.sleep(ON_THE_WAY_MILLIS);
        machines.receive();
        int arrived = machines.count(to, first, last);
        System.out.printf(
                "rate, %s to %s: %d of %d frames in %.2f s, %.0f kbit/s%n",
                from, to, arrived, FRAMES, seconds, arrived * FRAME_BYTES * 8 / 1e3 / seconds);
        return new Burst(arrived, seconds);
    }

    private static SecureBridge open(LabHost host) {
        return SecureBridge.open(host.bridge(), new MetricRegistry());
    }

    private static PortPlan plan(String name, Endpoint self, @Nullable PortRate rate, Endpoint... peers) {
        return new PortPlan(
                NamespaceMachines.device(name),
                VLAN,
                self,
                "rate",
                PortRole.WORKER,
                Set.of(peers),
                null,
                rate,
                "scenario/rate");
    }

    private static Endpoint endpoint(int number) {
        return Endpoint.of(new MacAddress("02:00:00:00:79:0" + number), new Ipv4Address("10.79.0." + number));
    }
}
