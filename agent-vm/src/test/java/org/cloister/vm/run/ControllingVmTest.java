package org.cloister.vm.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.cloister.ipsec.Esp;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.Role;
import org.cloister.vm.LocalMachine;
import org.cloister.vm.VmMetrics;
import org.cloister.vm.boot.Begun;
import org.cloister.vm.boot.Believed;
import org.cloister.vm.boot.BootStatus;
import org.cloister.vm.machine.Programs;
import org.cloister.vm.machine.Services;
import org.cloister.vm.opening.OpeningWorld;
import org.cloister.vm.volume.Volumes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an agent does before its VM is opened, and when it finds that it was. */
class ControllingVmTest {
    private final OpeningWorld world = new OpeningWorld();
    private final BlockingQueue<String> ended = new LinkedBlockingQueue<>();

    private final VmMetrics metrics = new VmMetrics();

    @TempDir
    private Path folder;

    ControllingVmTest() throws Exception {}

    private ControllingVm begin() throws Exception {
        Believed believed = new Believed(new Beliefs(Anchors.none(), RevocationLists.none(), () -> OpeningWorld.NOW));
        Reports reports = new Reports(
                BootStatus.begin(folder.resolve("run/agent-vm.status")),
                new Volumes(folder.resolve("run/agent-vm.volumes"), metrics, InstantSource.system()));
        return new ControllingVm(
                world.assignment(),
                world.keys,
                believed,
                equipment(),
                reports,
                Begun.open(folder.resolve("run")),
                new Ending(ended::add, why -> ended.add("cut: " + why)));
    }

    private Equipment equipment() throws IOException {
        Services none = new Services() {
            @Override
            public void start(String unit, String settings) throws IOException {
                throw new IOException(unit);
            }

            @Override
            public void renew(String unit) throws IOException {
                throw new IOException(unit);
            }

            @Override
            public void stop(String unit) throws IOException {
                throw new IOException(unit);
            }
        };
        return new Equipment(
                Programs.ofThisMachine(),
                world.crypto,
                Cryptsetup.load(),
                none,
                LocalMachine.load(folder.resolve("none.toml")),
                metrics,
                folder.resolve("run"),
                folder.resolve("etc"),
                Esp.KERNEL);
    }

    @Test
    void a_vm_that_nobody_opened_waits_and_goes_on_with_the_agent_after_this_one() throws Exception {
        ControllingVm vm = begin();
        assertThat(ended.poll(200, TimeUnit.MILLISECONDS)).isNull();
        assertThat(folder.resolve("run/agent-vm.status")).content().startsWith("phase assigned\n");
        vm.stop(Duration.ofSeconds(20));
        assertThat(ended).as("no host has vouched for its keys").isEmpty();
        assertThat(folder.resolve("run/agent-vm.status")).content().startsWith("phase leaving\n");
    }

    @Test
    void a_vm_whose_host_ends_it_ends_with_all_that_it_has_also_if_nobody_has_opened_it() throws Exception {
        ControllingVm vm = begin();
        vm.askedToLeave(Duration.ofSeconds(20));
        assertThat(ended.poll(20, TimeUnit.SECONDS)).isEqualTo("its host ends it");
        assertThat(folder.resolve("run/agent-vm.status")).content().startsWith("phase leaving\n");
        vm.askedToLeave(Duration.ofSeconds(10));
        // As the VM goes off.
        vm.stop(Duration.ofSeconds(20));
        assertThat(ended).isEmpty();
    }

    @Test
    void a_vm_that_its_host_was_asked_about_ends_with_its_agent_and_says_why() throws Exception {
        Begun.open(folder.resolve("run")).asked(Role.CONTROLLER);
        ControllingVm vm = begin();
        vm.stop(Duration.ofSeconds(20));
        assertThat(ended).containsExactly("stopped");
        vm.stop(Duration.ofSeconds(20));
        assertThat(ended).hasSize(1);
    }
}
