package org.cloister.vm.controller;

import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.evidence.AttestationClaims;
import org.cloister.protocol.handover.VmAssignment;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.BootCertificate;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertificateSigner;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.channel.EvidenceQuery;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLinkListener;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.vm.boot.AgentVmPhase;
import org.cloister.vm.boot.BootJournal;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.boot.VmTrustStore;
import org.cloister.vm.controller.drive.DrivePlan;
import org.cloister.vm.controller.ssh.SshGateway;
import org.cloister.vm.controller.tickets.SiteTrust;
import org.cloister.vm.controller.unlock.UnlockRefusal;
import org.cloister.vm.controller.unlock.UnlockRefused;
import org.cloister.vm.controller.unlock.UnlockServer;
import org.cloister.vm.controller.unlock.UnlockVerification;
import org.cloister.vm.controller.unlock.VerifiedUnlock;
import org.cloister.vm.system.volume.VolumeName;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The controlling VM of a project: waits for its opener, opens the project once, and serves it until the VM ends. */
public final class ControllingVm implements AgentLinkListener {
    private static final Logger LOG = LoggerFactory.getLogger(ControllingVm.class);

    private final VmAssignment assignment;
    private final BootKeyPairs keys;
    private final VmTrustStore believed;
    private final SiteTrust site;
    private final ControllerEnvironment equipment;
    private final ControllerStatusFiles reports;
    private final BootJournal begun;
    private final VmShutdown ending;
    /** Runs the opening and later tasks one after the other; tasks block. */
    private final ExecutorService work = Executors.newSingleThreadExecutor(task -> new Thread(task, "opening"));

    private final AtomicBoolean over = new AtomicBoolean();
    private final UnlockServer desk;
    private final AtomicReference<@Nullable AgentAttachStream> entered = new AtomicReference<>();
    private volatile @Nullable AgentAttachStream attachment;
    private volatile @Nullable RunningProject project;
    /** Used on the work thread only. */
    private @Nullable OpenedProject foundation;

    /**
     * @param believed trust store that has the assignment's project
     * @param begun boot journal, without entries so far
     * @param ending called once when this VM has finished and has closed its resources
     */
    public ControllingVm(
            VmAssignment assignment,
            BootKeyPairs keys,
            VmTrustStore believed,
            ControllerEnvironment equipment,
            ControllerStatusFiles reports,
            BootJournal begun,
            VmShutdown ending)
            throws IOException {
        this.assignment = assignment;
        this.keys = keys;
        this.believed = believed;
        this.site = new SiteTrust(believed.trustStore());
        this.equipment = equipment;
        this.reports = reports;
        this.begun = begun;
        this.ending = ending;
        CertificateSigner signer = CertificateSigner.of(keys.signing());
        byte[] boot = BootCertificate.make(
                assignment.name(),
                SubjectPublicKey.of(keys.publicKeys().signing()),
                signer,
                Instant.now(),
                new SecureRandom());
        this.desk = new UnlockServer(
                new UnlockServer.Context(
                        new UnlockVerification.VmIdentity(
                                assignment, keys.publicKeys().signing(), signer),
                        keys.publicKeys(),
                        TlsCredential.of(keys.signing(), List.of(boot)),
                        CertifiedPeerVerifier.forRoles(believed.trustStore(), Set.of(CertificateRole.OPENER))),
                this::vouch,
                this::open,
                this::onWork,
                InstantSource.system(),
                this::end);
        reports.writePhase(AgentVmPhase.ASSIGNED);
    }

    @Override
    public void onAttached(AgentAttachStream to) {
        attachment = to;
        if (over.get()) {
            return;
        }
        to.serve(assignment.name());
        RunningProject running = project;
        if (running != null) {
            enter(running, to);
        }
    }

    /**
     * Attaches the project to a channel once, since {@code onAttached} and {@code begin} may both find project and
     * channel present.
     */
    private void enter(RunningProject running, AgentAttachStream to) {
        if (entered.getAndSet(to) != to) {
            running.onAttached(to);
        }
    }

    @Override
    public void onServed(CertificateName name, Optional<CloseReason> refused) {
        refused.ifPresent(why -> LOG.warn("{} is not served: {}", name, why));
    }

    @Override
    public void onDial(AgentAttachStream on, RelayMessage.Dial dial) {
        RunningProject running = project;
        if (over.get()) {
            on.refuse(dial, CloseReason.REFUSED);
        } else if (!dial.from().role().equals(CertificateRole.WORKER.toString()) && !SshGateway.isPerson(dial.from())) {
            desk.onDial(on, dial);
        } else if (running == null) {
            LOG.info("{}: too early", dial.from());
            on.refuse(dial, CloseReason.REFUSED);
        } else {
            running.onDial(on, dial);
        }
    }

    /**
     * Does nothing: the channel's trust store has the list, and open circuits and logins are checked against it each
     * second.
     */
    @Override
    public boolean onRevocationList(byte[] signed) {
        return false;
    }

    @Override
    public void onLost(String why) {
        attachment = null;
    }

    /**
     * Releases all resources in order, as far as the time permits: a drive that is open when the host stops the VM is
     * left as after a power cut.
     */
    @Override
    public void onShutdownRequest(Duration within) {
        if (over.compareAndSet(false, true)) {
            LOG.info("the host ends this VM within {} s", within.toSeconds());
            onWork(() -> conclude("its host ends it"));
        }
    }

    /**
     * Releases all resources in order on SIGTERM, and shuts the VM down if no later agent process could continue in it.
     */
    public void stop(Duration limit) throws InterruptedException {
        if (over.compareAndSet(false, true)) {
            LOG.info("the controlling VM ends: stopped");
            onWork(() -> {
                try {
                    release();
                } finally {
                    if (begun.hasRequestedEvidence()) {
                        ending.shutDown("stopped");
                    }
                }
            });
        }
        work.shutdown();
        if (!work.awaitTermination(limit.toMillis(), TimeUnit.MILLISECONDS)) {
            LOG.error("controlling VM: not ended within {} s", limit.toSeconds());
        }
    }

    /** Runs a task on the work thread; drops it if that thread has been shut down. */
    private void onWork(Runnable task) {
        try {
            work.execute(task);
        } catch (RejectedExecutionException e) {
            LOG.debug("opening: over: {}", e.getMessage());
        }
    }

    private Future<DsseEnvelope> vouch(AttestationClaims claim) {
        AgentAttachStream channel = attachment;
        if (channel == null) {
            throw new IllegalStateException("evidence: asked for in a circuit, and there is no channel");
        }
        try {
            begun.recordEvidenceRequest(CertificateRole.CONTROLLER);
        } catch (IOException e) {
            return channel.link().loop().newFailedFuture(e);
        }
        return EvidenceQuery.ask(channel.link(), claim).addListener(answer -> {
            if (answer.isSuccess()) {
                reports.writePhase(AgentVmPhase.VOUCHED);
            }
        });
    }

    private VmMessage.Opened open(VerifiedUnlock unlocked) throws UnlockRefused {
        OpenedProject.OpenResult laid = OpenedProject.open(equipment, keys, unlocked);
        foundation = laid.project();
        // Uses the time that the opener sent: lists that were received earlier may have been invalid by the host's
        // clock.
        believed.replaceAnchors(
                TrustAnchors.none().withProject(unlocked.documents().history()).withSite(unlocked.siteKeys()));
        reports.writePhase(AgentVmPhase.GIVEN);
        try {
            reports.volumes()
                    .recordOpened(VolumeName.DRIVE, equipment.cryptsetup(), DrivePlan.MAPPING, DrivePlan.MOUNT_POINT);
        } catch (IOException e) {
            throw new UnlockRefused(UnlockRefusal.CONTROLLER, e);
        }
        // Runs after the response to the opener: the drive is open, and this takes longer.
        onWork(() -> begin(laid.project()));
        return laid.opened();
    }

    private void begin(OpenedProject ground) {
        if (over.get()) {
            return;
        }
        long begin = System.nanoTime();
        RunningProject.TrustSources believing = new RunningProject.TrustSources(believed.trustStore(), site);
        try {
            RunningProject running = RunningProject.start(
                    equipment, ground, keys, assignment.name(), believing, new VmShutdown(this::end, this::cut));
            project = running;
            AgentAttachStream channel = attachment;
            if (channel != null) {
                enter(running, channel);
            }
            reports.writePhase(AgentVmPhase.READY);
            equipment.metrics().projectStarted(Duration.ofNanos(System.nanoTime() - begin));
            LOG.info(
                    "the project's controlling VM is at work, epoch={}",
                    ground.unlocked().epoch());
        } catch (IOException | RuntimeException e) {
            LOG.error("the project does not begin", e);
            end("the project does not begin: " + e.getMessage());
        }
    }

    private void end(String why) {
        if (over.compareAndSet(false, true)) {
            LOG.error("this VM ends: {}", why);
            onWork(() -> conclude(why));
        }
    }

    /** Cuts the power at once, also during an orderly shutdown. */
    private void cut(String why) {
        over.set(true);
        LOG.error("this VM ends at once: {}", why);
        ending.cutPower(why);
    }

    private void conclude(String why) {
        try {
            release();
        } finally {
            ending.shutDown(why);
        }
    }

    private void release() {
        reports.writePhase(AgentVmPhase.LEAVING);
        ResourceStack left = new ResourceStack();
        OpenedProject ground = foundation;
        if (ground != null) {
            foundation = null;
            left.push(() -> reports.volumes().recordClosed(VolumeName.DRIVE));
            left.push(ground::close);
        }
        RunningProject running = project;
        if (running != null) {
            project = null;
            equipment.metrics().projectStopped();
            left.push(running::close);
        }
        left.close();
    }
}
