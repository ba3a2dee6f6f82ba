package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabHost;
import org.cloister.lab.LabVm;
import org.cloister.lab.LabVmSpec;
import org.cloister.lab.Poll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The wires of the lab: a VLAN reaches from host to host through the trunk, and nothing passes before there are flows. */
@Tag("scenario")
@Tag("ground")
@ExtendWith(SharedLab.class)
class LabBridgeTest {
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(20);

    @Test
    @RotatedScenario(8)
    void carries_a_vlan_between_hosts_and_keeps_another_apart(Lab lab) throws IOException {
        Path image = LabHome.fromEnvironment().image("lab");
        try (LabVm one = lab.host(1).boot(LabVmSpec.of("one", image).withVlan(101));
                LabVm two = lab.host(2).boot(LabVmSpec.of("two", image).withVlan(101))) {
            address(one.awaitRunner(), "10.77.1.1/24");
            address(two.awaitRunner(), "10.77.1.2/24");
            assertThat(reaches(one, "10.77.1.2")).as("before there are flows").isFalse();

            for (LabHost host : lab.hosts()) {
                host.ovs().forwardWithinVlans();
            }
            Poll.until("an answer over the trunk", ANSWER_LIMIT, "look with tcpdump", () -> reaches(one, "10.77.1.2"));

            lab.host(2).ovs().vsctl("set", "port", two.spec().port(), "tag=102");
            assertThat(reaches(one, "10.77.1.2")).as("other VLAN").isFalse();
        } finally {
            for (LabHost host : lab.hosts()) {
                host.ovs().ofctl("del-flows", "br-secure");
            }
        }
        assertThat(lab.host(1).ovs().vsctl("list-ports", "br-secure").strip()).isEqualTo("trunk0");
    }

    private static void address(LabVm vm, String address) throws IOException {
        vm.succeed("modprobe", "virtio_net");
        String device = vm.succeed("sh", "-c", "ls /sys/class/net | grep -v lo").strip();
        vm.succeed("ip", "address", "add", address, "dev", device);
        vm.succeed("ip", "link", "set", device, "up");
    }

    private static boolean reaches(LabVm vm, String address) throws IOException {
        return vm.run("ping", "-c", "2", "-i", "0.3", "-W", "2", address).exit() == 0;
    }
}
