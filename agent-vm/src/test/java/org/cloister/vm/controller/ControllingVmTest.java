package org.cloister.vm.controller;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.cloister.base.process.ProcessRunner;
import org.cloister.ipsec.EspMode;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.vm.boot.AgentVmStatusFile;
import org.cloister.vm.boot.BootJournal;
import org.cloister.vm.boot.VmTrustStore;
import org.cloister.vm.controller.config.MachineSettings;
import org.cloister.vm.controller.unlock.ControllerUnlockFixture;
import org.cloister.vm.metrics.VmMetrics;
import org.cloister.vm.system.daemon.UnitControl;
import org.cloister.vm.system.volume.VolumeStatusFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests an agent before its VM is opened, and when it finds that it was. */
class ControllingVmTest {
    private final ControllerUnlockFixture fixture = new ControllerUnlockFixture();
    private final BlockingQueue<String> ended = new LinkedBlockingQueue<>();

    private final VmMetrics metrics = new VmMetrics();

    @TempDir
    private Path folder;

    ControllingVmTest() throws Exception {}

    private ControllingVm start() throws Exception {
        VmTrustStore trustStore = new VmTrustStore(
                new TrustStore(TrustAnchors.none(), RevocationLists.none(), () -> ControllerUnlockFixture.NOW));
        ControllerStatusFiles reports = new ControllerStatusFiles(
                AgentVmStatusFile.create(folder.resolve("run/agent-vm.status")),
                new VolumeStatusFile(folder.resolve("run/agent-vm.volumes"), metrics, InstantSource.system()));
        return new ControllingVm(
                fixture.assignment(),
                fixture.keys,
                trustStore,
                environment(),
                reports,
                BootJournal.open(folder.resolve("run")),
                new VmShutdown(ended::add, why -> ended.add("cut: " + why)));
    }

    private ControllerEnvironment environment() throws IOException {
        UnitControl none = new UnitControl() {
            @Override
            public void start(String unit, String settings) throws IOException {
                throw new IOException(unit);
            }

            @Override
            public void tryRestart(String unit) throws IOException {
                throw new IOException(unit);
            }

            @Override
            public void stop(String unit) throws IOException {
                throw new IOException(unit);
            }
        };
        return new ControllerEnvironment(
                ProcessRunner.local(),
                fixture.crypto,
                Cryptsetup.load(),
                none,
                MachineSettings.load(folder.resolve("none.toml")),
                metrics,
                folder.resolve("run"),
                folder.resolve("etc"),
                EspMode.KERNEL);
    }

    @Test
    void a_vm_that_nobody_opened_waits_and_goes_on_with_the_agent_after_this_one() throws Exception {
        ControllingVm vm = start();
        assertThat(ended.poll(200, TimeUnit.MILLISECONDS)).isNull();
        assertThat(folder.resolve("run/agent-vm.status")).content().startsWith("phase assigned\n");
        vm.stop(Duration.ofSeconds(20));
        assertThat(ended).as("no host has vouched for its keys").isEmpty();
        assertThat(folder.resolve("run/agent-vm.status")).content().startsWith("phase leaving\n");
    }

    @Test
    void a_vm_whose_host_ends_it_ends_with_all_that_it_has_also_if_nobody_has_opened_it() throws Exception {
        ControllingVm vm = start();
        vm.onShutdownRequest(Duration.ofSeconds(20));
        assertThat(ended.poll(20, TimeUnit.SECONDS)).isEqualTo("its host stops it");
        assertThat(folder.resolve("run/agent-vm.status")).content().startsWith("phase leaving\n");
        vm.onShutdownRequest(Duration.ofSeconds(10));
        // As the VM goes off.
        vm.stop(Duration.ofSeconds(20));
        assertThat(ended).isEmpty();
    }

    @Test
    void a_vm_that_its_host_was_asked_about_ends_with_its_agent_and_says_why() throws Exception {
        BootJournal.open(folder.resolve("run")).recordEvidenceRequest(CertificateRole.CONTROLLER);
        ControllingVm vm = start();
        vm.stop(Duration.ofSeconds(20));
        assertThat(ended).containsExactly("stopped");
        vm.stop(Duration.ofSeconds(20));
        assertThat(ended).hasSize(1);
    }
}
