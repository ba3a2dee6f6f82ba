package org.cloister.host.resources;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalLong;
import org.cloister.base.encoding.MalformedException;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.policy.VmShape;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VmPlanTest {
    private static final ResourceOwner OWNER = VmPlanSamples.OWNER;

    @Test
    void what_is_written_is_read_again() throws MalformedException {
        for (VmPlan plan :
                new VmPlan[] {VmPlanSamples.full(), VmPlanSamples.plain(OWNER), VmPlanSamples.withDrive(OWNER)}) {
            assertThat(VmPlanJson.read(VmPlanJson.write(plan))).isEqualTo(plan);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    cloister-vm-plan/1      | cloister-vm-plan/2       | format
                    "mtu":1500              | "mtu":150                | mtu
                    "mtu":1500              | "mtu":1500,"more":1      | unknown key
                    "slot":3                | "slot":-3                | slot
                    "set":"10-11"           | "set":"10"               | among them
                    "node":1                | "node":1024              | node
                    "slot":3                | "slot":70000             | slot
                    "vlan":301              | "vlan":4095              | vlan
                    "accelerator":"KVM"     | "accelerator":"XEN"      | XEN
                    10.7.0.2                | 10.7.0.256               | IPv4
                    "serial":"scratch"      | "serial":"layer-base"    | once
                    "use":"WRITABLE"        | "use":"LAYER"            | scratch
                    "scratchBytes":1099511627776 | "scratchBytes":0    | scratchBytes
                    "mac":"52:54:00:4d:00:03","channel" | "mac":"52:54:00:4d:00:04","channel" | MAC
                    "globalJob":4711        | "globalJob":4712         | scratch
                    "scratchBytes":1099511627776 | "scratchBytes":7    | whole MiB
                    "sharing":"none"        | "sharing":"some"         | sharing
                    /var/lib/cloister/host/vms/channel | relative      | channel
                    """)
    void a_plan_that_says_anything_else_is_refused(String from, String to, String why) {
        String text = new String(VmPlanJson.write(VmPlanSamples.full()), StandardCharsets.UTF_8);
        assertThat(text).contains(from);
        String changed = text.replace(from, to);
        assertThatThrownBy(() -> VmPlanJson.read(changed.getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining(why);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    "role":"CONTROLLER"  | "role":"WORKER"      | want CONTROLLER, have WORKER
                    "name":"main"        | "name":"other"       | other.img to write to
                    "name":"main"        | "name":"../main"     | drive.name
                    "epoch":9            | "epoch":0            | drive.epoch
                    "epoch":9            | "epoch":9,"more":1   | unknown key
                    "use":"WRITABLE"     | "use":"LAYER"        | main.img to write to
                    "serial":"drive"     | "serial":"other"     | main.img to write to
                    "drive":{            | "drives":{           | want none among the domain's disks
                    """)
    void a_plan_with_another_drive_than_its_disk_is_refused(String from, String to, String why) {
        String text = new String(VmPlanJson.write(VmPlanSamples.withDrive(OWNER)), StandardCharsets.UTF_8);
        assertThat(text).contains(from);
        assertThatThrownBy(() -> VmPlanJson.read(text.replace(from, to).getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining(why);
    }

    @Test
    void every_beginning_of_a_plan_is_refused() {
        byte[] whole = VmPlanJson.write(VmPlanSamples.full());
        String text = new String(whole, StandardCharsets.UTF_8);
        for (int length = 0; length < text.length(); length++) {
            byte[] cut = text.substring(0, length).getBytes(StandardCharsets.UTF_8);
            assertThatThrownBy(() -> VmPlanJson.read(cut)).isInstanceOf(MalformedException.class);
        }
    }

    @Test
    void parts_of_two_vms_make_no_plan() {
        VmPlan plan = VmPlanSamples.plain(OWNER);
        assertThatThrownBy(() -> new VmPlan(
                        plan.domain(),
                        VmPlanSamples.port(OWNER, "somebody's"),
                        plan.mtu(),
                        OptionalLong.empty(),
                        plan.image(),
                        plan.sharing(),
                        Optional.empty()))
                .hasMessageContaining("port's owner");
        assertThatThrownBy(() -> new VmPlan(
                        plan.domain(),
                        plan.port(),
                        plan.mtu(),
                        OptionalLong.of(1 << 20),
                        plan.image(),
                        plan.sharing(),
                        Optional.empty()))
                .hasMessageContaining("scratch disk: want one");
    }

    @Test
    void a_host_vouches_for_what_the_plan_says() {
        VmFacts facts = VmPlanSamples.full().facts();
        assertThat(facts.vm()).isEqualTo(OWNER.vmId());
        assertThat(facts.role()).isEqualTo(VmRole.WORKER);
        assertThat(facts.shape()).isEqualTo(new VmShape(4, 4416, 1 << 20));
        assertThat(facts.sharing()).isEqualTo(HostSharing.NONE);
        assertThat(VmPlanSamples.plain(OWNER).facts().role()).isEqualTo(VmRole.CONTROLLER);
        assertThat(VmPlanSamples.plain(OWNER).facts().shape()).isEqualTo(new VmShape(1, 512, 0));
    }

    @Test
    void a_port_says_whose_it_is() {
        ResourceOwner longest = new ResourceOwner(
                "z".repeat(51) + "q", "z".repeat(64), 65_535, 999_999_999, "ffffffff-ffff-ffff-ffff-ffffffffffff");
        for (ResourceOwner owner : new ResourceOwner[] {OWNER, longest}) {
            assertThat(PortOwnerLabels.read(VmPlanSamples.port(owner, PortOwnerLabels.owner(owner))))
                    .contains(owner);
        }
        assertThat(PortOwnerLabels.read(VmPlanSamples.port(OWNER, "scenario/a1")))
                .isEmpty();
        assertThat(PortOwnerLabels.read(
                        VmPlanSamples.port(OWNER, PortOwnerLabels.owner(OWNER).replace(".3.", ".03."))))
                .isEmpty();
    }

    @Test
    void a_mark_is_its_owners_and_no_other_text_is_one() {
        assertThat(ResourceOwner.parse(OWNER.mark())).isEqualTo(Optional.of(OWNER));
        for (String text : new String[] {
            "",
            OWNER.mark() + ".",
            OWNER.mark().toUpperCase(java.util.Locale.ROOT),
            OWNER.mark().replace(".3.", ".65536."),
            OWNER.mark().replace(".4711.", ".0."),
            "x".repeat(10_000)
        }) {
            assertThat(ResourceOwner.parse(text)).as(text).isEmpty();
        }
    }
}
