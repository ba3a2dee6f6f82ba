package org.cloister.lab.guide;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import org.cloister.lab.Poll;
import org.cloister.lab.booted.BootedCable;
import org.cloister.lab.booted.BootedMachine;
import org.cloister.lab.booted.BootedSite;
import org.cloister.lab.scenario.RotatedScenario;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Faults of real machines on the site of the guide, with a project at work on it: restarts of what agent-host depends on, pulled
 * cables, a full disk, a storage server that restarts, and power cuts. A fault that ends no host leaves the controlling VM as it is.
 */
@Tag("scenario")
@Tag("site")
@Timeout(3600)
@RotatedScenario({})
@ExtendWith(GuidedSite.Resolver.class)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class SiteFaultsTest {
    /** Machines are emulated: a restart of libvirtd alone takes them half a minute. */
    private static final Duration LIMIT = Duration.ofMinutes(10);

    private GuidedSite guided;
    private BootedSite site;
    /** The controlling VM's. */
    private BootedMachine host;

    @BeforeEach
    void atWork(GuidedSite guided) throws IOException {
        this.guided = guided;
        site = guided.withProject();
        awaitWork();
        host = site.machine(vm().split(" ", 2)[0]);
    }

    @Test
    @Order(1)
    void restarts_of_what_a_host_depends_on_leave_its_vms_alone() throws IOException {
        String vm = vm();
        for (String unit : new String[] {
            "libvirtd", "openvswitch-switch", "slurmd", "munge", "nftables", "agent-host", "systemd-networkd"
        }) {
            host.succeed("systemctl restart " + unit);
            awaitWork();
            assertThat(vm()).as("QEMU after a restart of " + unit).isEqualTo(vm);
        }
        Poll.until(
                "agent-host's rules, which a restart of nftables removed",
                LIMIT,
                "nft list ruleset",
                Duration.ofSeconds(1),
                () -> host.succeed("nft list ruleset").contains("cloister"));
    }

    @Test
    @Order(2)
    void a_cable_that_is_out_for_a_minute_costs_no_vm() throws Exception {
        String vm = vm();
        for (BootedCable cable : BootedCable.values()) {
            host.plug(cable, false);
            Thread.sleep(60_000);
            host.plug(cable, true);
            awaitWork();
            assertThat(vm()).as("QEMU after the cable " + cable).isEqualTo(vm);
        }
    }

    @Test
    @Order(3)
    void a_full_disk_costs_no_vm_and_is_said() throws IOException {
        String vm = vm();
        host.succeed("fallocate -l $(($(df --output=avail -B1 /var/lib/cloister | tail -1) - 65536)) /var/lib/full"
                + " && dd if=/dev/zero of=/var/lib/full2 bs=4k 2>/dev/null; df /var/lib/cloister");
        try {
            Poll.until(
                    "the host that refuses work with a full disk",
                    LIMIT,
                    "agentctl host status",
                    Duration.ofSeconds(5),
                    () -> host.command("agentctl host status").run().out().contains("MiB free on its file system"));
            assertThat(vm()).isEqualTo(vm);
        } finally {
            host.succeed("rm -f /var/lib/full /var/lib/full2");
        }
        awaitWork();
        assertThat(vm()).isEqualTo(vm);
    }

    @Test
    @Order(4)
    void a_storage_server_that_restarts_costs_no_vm() throws IOException {
        String vm = vm();
        // For 90 s it takes no lock and no write then: its clients have to tell what they hold first.
        site.machine("admin").succeed("systemctl restart nfs-server");
        guided.asUntil("ann", "ssh cloister 'date >kept && sync kept'");
        awaitWork();
        assertThat(vm()).isEqualTo(vm);
        guided.as("ann", "ssh cloister cat kept | grep :");
    }

    @Test
    @Order(5)
    void the_relay_and_the_slurm_controller_lose_power_and_the_project_goes_on() throws IOException {
        String vm = vm();
        BootedMachine relay = site.machine("relay");
        relay.cutPower();
        relay.startAgain();
        relay.awaitUp();
        awaitWork();
        assertThat(vm()).isEqualTo(vm);
        guided.as("ann", "ssh cloister sbatch --wait --wrap true");
    }

    @Test
    @Order(6)
    void a_host_loses_power_and_starts_with_a_clock_a_day_ahead() throws IOException {
        host.cutPower();
        host.startAgain(LocalDateTime.now(ZoneOffset.UTC).plusDays(1));
        host.awaitUp();
        guided.awaitHosts();
        guided.asUntil("ann", "agentctl project open main");
        guided.asUntil("ann", "ssh cloister true");
    }

    @Test
    @Order(7)
    void a_host_shuts_down_with_a_controlling_vm_and_its_drive_is_closed() throws IOException {
        host.powerOff();
        host.startAgain();
        host.awaitUp();
        guided.awaitHosts();
        guided.asUntil("ann", "agentctl project open main");
        guided.asUntil("ann", "ssh cloister true");
    }

    /** Returns the VM as its host and the process of its QEMU. */
    private String vm() throws IOException {
        List<String> vms = guided.vms();
        assertThat(vms).as("the controlling VM alone").hasSize(1);
        return vms.get(0);
    }

    private void awaitWork() throws IOException {
        guided.awaitHosts();
        guided.asUntil("ann", "ssh cloister true");
    }
}
