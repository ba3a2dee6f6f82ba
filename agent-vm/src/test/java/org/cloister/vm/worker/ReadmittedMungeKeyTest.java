package org.cloister.vm.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.security.cert.CertificateEncodingException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.process.ProcessRunner;
import org.cloister.ipsec.CharonHost;
import org.cloister.ipsec.DerCertificate;
import org.cloister.ipsec.EspMode;
import org.cloister.ipsec.TunnelCredential;
import org.cloister.ipsec.TunnelIdentity;
import org.cloister.ipsec.TunnelPlan;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.protocol.handover.VmAssignment;
import org.cloister.protocol.identity.IkeTrustAnchors;
import org.cloister.protocol.ticket.ProjectAddress;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.vm.boot.BootJournal;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.controller.admission.AdmittedWorker;
import org.cloister.vm.metrics.VmMetrics;
import org.cloister.vm.system.daemon.MungeDaemon;
import org.cloister.vm.system.daemon.UnitControl;
import org.cloister.vm.system.tunnel.LockedPrivateKey;
import org.cloister.vm.system.tunnel.ProjectTunnels;
import org.cloister.vm.system.tunnel.TunnelPeer;
import org.cloister.vm.system.volume.VolumeStatusFile;
import org.cloister.vm.worker.steps.AcceptedHandover;
import org.cloister.vm.worker.steps.LocalNodeSetup;
import org.cloister.vm.worker.steps.SetupStep;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A worker's munged and charon, both real, while its controlling VM is opened again. */
class ReadmittedMungeKeyTest {
    private static final Ipv4Address CONTROLLER = new Ipv4Address("10.64.12.1");
    private static final Ipv4Address WORKER = new Ipv4Address("10.64.12.5");
    private static final int KEY_BYTES = 128;

    private final SecureRandom random = new SecureRandom();
    private final WorkerFixture fixture = new WorkerFixture();
    private final BootKeyPairs keys = BootKeyPairs.generate(fixture.secrets);
    private final HandoverVerifier verifier = new HandoverVerifier(VmAssignment.of(fixture.told()), keys);
    private final CharonHost controller = CharonHost.make();
    private final CharonHost worker = CharonHost.make();
    private final List<SecretMemory> controllerKeys = new ArrayList<>();
    private final WorkerUnits units = new WorkerUnits();
    private final ProcessRunner programs = ProcessRunner.withPrefix(worker.enter());
    private final Path folder;
    private final LocalNodeSetup setup;

    ReadmittedMungeKeyTest(@TempDir Path folder) throws Exception {
        this.folder = folder;
        Path etc = Files.createDirectories(folder.resolve("etc"));
        Files.writeString(etc.resolve("passwd"), "munge:x:0:0:munged runs as root here:/:/bin/false\n");
        setup = new LocalNodeSetup(
                new LocalNodeSetup.Environment(
                        programs,
                        units,
                        fixture.secrets,
                        new VolumeStatusFile(folder.resolve("volumes"), new VmMetrics(), InstantSource.system()),
                        InstantSource.system(),
                        EspMode.USERSPACE,
                        folder,
                        etc,
                        folder),
                keys,
                BootJournal.open(folder.resolve("journal")));
    }

    /** Units of a machine without systemd: munged runs with the drop-in's command, and restarts are recorded. */
    private final class WorkerUnits implements UnitControl {
        private static final String COMMAND = "ExecStart=/";
        private final List<String> restarted = new ArrayList<>();
        private Optional<Process> munged = Optional.empty();

        @Override
        public synchronized void start(String unit, String settings) throws IOException {
            List<String> argv = new ArrayList<>();
            settings.lines()
                    .filter(line -> line.startsWith(COMMAND))
                    .forEach(line -> argv.addAll(
                            List.of(line.substring(COMMAND.length() - 1).split(" ", -1))));
            argv.addAll(List.of("--foreground", "--force", "--seed-file=/run/munge/seed"));
            munged = Optional.of(
                    worker.inside(argv.toArray(String[]::new)).inheritIO().start());
            CharonHost.until("munged", () -> isDecoded(credential()));
        }

        @Override
        public synchronized void tryRestart(String unit) {
            restarted.add(unit);
        }

        @Override
        public synchronized void stop(String unit) {
            assertThat(unit).isEqualTo(MungeDaemon.UNIT);
            munged.ifPresent(process -> {
                process.descendants().forEach(ProcessHandle::destroy);
                CharonHost.until("the end of munged", () -> !process.isAlive());
            });
            munged = Optional.empty();
        }

        synchronized List<String> restarted() {
            return List.copyOf(restarted);
        }
    }

    @BeforeEach
    void connect() throws IOException {
        controller.connect(worker);
        controller.address(CONTROLLER.text());
        worker.address(WORKER.text());
        worker.run("mount", "-t", "tmpfs", "-o", "mode=755", "run", "/run");
        worker.run("mkdir", "/run/munge");
    }

    @AfterEach
    void end() throws IOException {
        try {
            setup.undo(SetupStep.MUNGE, false);
            setup.undo(SetupStep.TUNNEL, false);
        } finally {
            controller.close();
            worker.close();
            controllerKeys.forEach(SecretMemory::close);
            fixture.mungeKey.close();
            fixture.newKey.close();
            keys.close();
        }
        assertThat(fixture.secrets.liveCount())
                .as("secrets that were not closed")
                .isZero();
    }

    /** The tunnels of a controlling VM's boot. */
    private ProjectTunnels controlling(TlsCredential own) throws IOException, CertificateEncodingException {
        controller.startCharon();
        SecretMemory key = fixture.secrets.moveFrom(own.key().getEncoded());
        controllerKeys.add(key);
        String project = fixture.project.id();
        List<DerCertificate> authorities = new ArrayList<>();
        for (byte[] each : IkeTrustAnchors.create(project, Instant.now(), random)
                .certificatesFor(List.of(own.chain().get(1).getEncoded()))) {
            authorities.add(DerCertificate.parse(each));
        }
        TunnelPlan plan = TunnelPlan.of(
                TunnelIdentity.controller(fixture.controller.id(), project),
                CONTROLLER,
                new TunnelCredential(DerCertificate.parse(own.chain().get(0).getEncoded()), new LockedPrivateKey(key)),
                authorities,
                EspMode.USERSPACE);
        String name = fixture.worker.id();
        TunnelPeer peer = new TunnelPeer(name, TunnelIdentity.worker(name, project), WORKER);
        return ProjectTunnels.open(
                controller.socket(), plan.with(TunnelPeer.peersOfController(List.of(peer))), event -> {});
    }

    private AcceptedHandover handedOver() throws Exception {
        Nonce nonce = Nonce.random(random);
        HandoverTarget target = new HandoverTarget(WorkerFixture.TICKET, WorkerFixture.SLOT, WorkerFixture.VM, nonce);
        byte[] leaf = fixture.certify(fixture.worker, keys.publicKeys().signing());
        return verifier.accept(
                fixture.handOver(
                        target,
                        fixture.chain(leaf),
                        fixture.sealed(target, keys.publicKeys().sealing())),
                WorkerFixture.VM,
                nonce);
    }

    private AcceptedHandover readmitted(AcceptedHandover previous) throws Exception {
        Nonce nonce = Nonce.random(random);
        AdmittedWorker admitted = new AdmittedWorker(
                WorkerFixture.TICKET,
                WorkerFixture.SLOT,
                WorkerFixture.VM,
                keys.publicKeys(),
                fixture.hostKey.verificationKey(),
                WorkerFixture.IMAGE,
                ProjectAddress.parse(WORKER.text()),
                1001,
                1000);
        return verifier.accept(fixture.createReadmission(admitted, nonce, true), previous, WorkerFixture.VM, nonce);
    }

    /** Returns a credential; empty while munged does not answer. */
    private String credential() {
        try {
            return programs.runChecked("munge", "-n");
        } catch (IOException e) {
            return "";
        }
    }

    private boolean isDecoded(String credential) {
        try {
            programs.runChecked(credential, List.of("unmunge", "-o", "/dev/null"));
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private boolean hasNewKey() {
        try (SecretMemory present = fixture.secrets.readFile(folder.resolve("munge/munge.key"), KEY_BYTES)) {
            return present.sameAs(fixture.newKey);
        } catch (IOException e) {
            return false;
        }
    }

    /** munged was stopped before its key was replaced, so one that answers after that has read the new key. */
    private boolean isNewKeyUsed() {
        return hasNewKey() && isDecoded(credential());
    }

    private CompletableFuture<Void> apply(AcceptedHandover readmission) {
        return CompletableFuture.runAsync(() -> {
            try {
                setup.applyReadmission(readmission, true);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
    }

    @Test
    @SuppressWarnings("try") // the controlling VM's end is only there to answer
    void munged_has_the_new_key_alone_before_anything_of_the_reopened_controlling_vm_is_reached() throws Exception {
        AcceptedHandover first = handedOver();
        String old;
        try (ProjectTunnels there = controlling(fixture.controllers)) {
            setup.apply(SetupStep.TUNNEL, first);
            setup.apply(SetupStep.MUNGE, first);
            old = credential();
        }
        controller.killCharon();
        fixture.present = Optional.of(fixture.reopened);
        AcceptedHandover readmission = readmitted(first);
        CompletableFuture<Void> applied = apply(readmission);
        CharonHost.until("the new key", this::isNewKeyUsed);
        assertThat(isDecoded(old)).as("a credential by the old key").isFalse();
        assertThat(applied).as("the tunnel's peer does not answer yet").isNotDone();
        assertThat(units.restarted()).isEmpty();
        try (ProjectTunnels there = controlling(fixture.reopened.own())) {
            applied.get(60, TimeUnit.SECONDS);
            worker.run("ping", "-c5", "-i0.2", "-W2", CONTROLLER.text());
            assertThat(units.restarted()).containsExactly("slurmd.service");

            // The controlling VM did not learn of it, and sends the same key to the next circuit.
            apply(readmitted(readmission)).get(60, TimeUnit.SECONDS);
            assertThat(isNewKeyUsed()).isTrue();
        }
    }
}
