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
    private final VmTrustStore trustStore;
    private final SiteTrust siteTrust;
    private final ControllerEnvironment environment;
    private final ControllerStatusFiles statusFiles;
    private final BootJournal journal;
    private final VmShutdown shutdown;
    /** Runs the opening and later tasks one after the other; tasks block. */
    private final ExecutorService work = Executors.newSingleThreadExecutor(task -> new Thread(task, "opening"));

    private final ControllerShutdown ending;
    private final UnlockServer unlockServer;
    private final AtomicReference<@Nullable AgentAttachStream> servedAttachment = new AtomicReference<>();
    private volatile @Nullable AgentAttachStream attachment;
    private volatile @Nullable RunningProject runningProject;
    /** Set once the opener's keys have arrived. */
    private volatile boolean keysReceived;
    /** Used on the work thread only. */
    private @Nullable OpenedProject openedProject;

    /**
     * @param trustStore trust store that has the assignment's project
     * @param journal boot journal, without entries so far
     * @param shutdown called once when this VM has finished and has closed its resources
     */
    public ControllingVm(
            VmAssignment assignment,
            BootKeyPairs keys,
            VmTrustStore trustStore,
            ControllerEnvironment environment,
            ControllerStatusFiles statusFiles,
            BootJournal journal,
            VmShutdown shutdown)
            throws IOException {
        this.assignment = assignment;
        this.keys = keys;
        this.trustStore = trustStore;
        this.siteTrust = new SiteTrust(trustStore.trustStore());
        this.environment = environment;
        this.statusFiles = statusFiles;
        this.journal = journal;
        this.shutdown = shutdown;
        this.ending = new ControllerShutdown(this::onWork, this::recordEnd, this::release, shutdown);
        CertificateSigner signer = CertificateSigner.of(keys.signing());
        byte[] bootCertificate = BootCertificate.make(
                assignment.name(),
                SubjectPublicKey.of(keys.publicKeys().signing()),
                signer,
                Instant.now(),
                new SecureRandom());
        this.unlockServer = new UnlockServer(
                new UnlockServer.Context(
                        new UnlockVerification.VmIdentity(
                                assignment, keys.publicKeys().signing(), signer),
                        keys.publicKeys(),
                        TlsCredential.of(keys.signing(), List.of(bootCertificate)),
                        CertifiedPeerVerifier.forRoles(trustStore.trustStore(), Set.of(CertificateRole.OPENER))),
                this::requestEvidence,
                this::open,
                this::onWork,
                InstantSource.system(),
                ending::shutDownAfterFailure,
                this::deleteLastEnd);
        statusFiles.writePhase(AgentVmPhase.ASSIGNED);
    }

    @Override
    public void onAttached(AgentAttachStream attached) {
        attachment = attached;
        if (ending.isOver()) {
            return;
        }
        attached.serve(assignment.name());
        RunningProject running = runningProject;
        if (running != null) {
            serve(running, attached);
        }
    }

    /**
     * Attaches the project to a channel once, since {@code onAttached} and {@code startProject} may both find project
     * and channel present.
     */
    private void serve(RunningProject running, AgentAttachStream attached) {
        if (servedAttachment.getAndSet(attached) != attached) {
            running.onAttached(attached);
        }
    }

    @Override
    public void onServed(CertificateName name, Optional<CloseReason> refused) {
        refused.ifPresent(why -> LOG.warn("{} is not served: {}", name, why));
    }

    @Override
    public void onDial(AgentAttachStream attached, RelayMessage.Dial dial) {
        RunningProject running = runningProject;
        Optional<CloseReason> early = running == null
                ? EarlyDialDecision.refusal(dial.from(), assignment.requester(), keysReceived)
                : Optional.empty();
        boolean isServed =
                dial.from().role().equals(CertificateRole.WORKER.toString()) || SshGateway.isPerson(dial.from());
        if (ending.isOver()) {
            attached.refuse(dial, CloseReason.REFUSED);
        } else if (early.isPresent()) {
            LOG.info("{}: refused: the project is not running yet: {}", dial.from(), early.get());
            attached.refuse(dial, early.get());
        } else if (running != null && isServed) {
            running.onDial(attached, dial);
        } else {
            unlockServer.onDial(attached, dial);
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
        if (ending.start()) {
            LOG.info("the host stops this VM within {} s", within.toSeconds());
            ending.shutDownOnRequest("its host stops it");
        }
    }

    /**
     * Releases all resources in order on SIGTERM, and shuts the VM down if no later agent process could continue in it.
     */
    public void stop(Duration limit) throws InterruptedException {
        if (ending.start()) {
            LOG.info("the controlling VM stops on SIGTERM");
            onWork(() -> {
                try {
                    release();
                } finally {
                    if (journal.hasRequestedEvidence()) {
                        shutdown.shutDown("stopped");
                    }
                }
            });
        }
        work.shutdown();
        if (!work.awaitTermination(limit.toMillis(), TimeUnit.MILLISECONDS)) {
            LOG.error("the controlling VM did not stop within {} s", limit.toSeconds());
        }
    }

    /** Runs a task on the work thread; drops it if that thread has been shut down. */
    private void onWork(Runnable task) {
        try {
            work.execute(task);
        } catch (RejectedExecutionException e) {
            LOG.debug("opening: no more tasks are accepted: {}", e.getMessage());
        }
    }

    private Future<DsseEnvelope> requestEvidence(AttestationClaims claims) {
        AgentAttachStream channel = attachment;
        if (channel == null) {
            throw new IllegalStateException("evidence was requested on a circuit while the channel is closed");
        }
        try {
            journal.recordEvidenceRequest(CertificateRole.CONTROLLER);
        } catch (IOException e) {
            return channel.link().loop().newFailedFuture(e);
        }
        return EvidenceQuery.ask(channel.link(), claims).addListener(response -> {
            if (response.isSuccess()) {
                statusFiles.writePhase(AgentVmPhase.VOUCHED);
            }
        });
    }

    private VmMessage.Opened open(VerifiedUnlock unlocked) throws UnlockRefused {
        keysReceived = true;
        OpenedProject.OpenResult result = OpenedProject.open(environment, keys, unlocked);
        openedProject = result.project();
        // Uses the time that the opener sent: lists that were received earlier may have been invalid by the host's
        // clock.
        trustStore.replaceAnchors(
                TrustAnchors.none().withProject(unlocked.documents().history()).withSite(unlocked.siteKeys()));
        statusFiles.writePhase(AgentVmPhase.GIVEN);
        try {
            statusFiles
                    .volumes()
                    .recordOpened(VolumeName.DRIVE, environment.cryptsetup(), DrivePlan.MAPPING, DrivePlan.MOUNT_POINT);
        } catch (IOException e) {
            throw new UnlockRefused(UnlockRefusal.CONTROLLER, e);
        }
        // Runs after the response to the opener: the drive is open, and this takes longer.
        onWork(() -> startProject(result.project()));
        return result.opened();
    }

    private void startProject(OpenedProject opened) {
        if (ending.isOver()) {
            return;
        }
        long startNs = System.nanoTime();
        RunningProject.TrustSources trustSources = new RunningProject.TrustSources(trustStore.trustStore(), siteTrust);
        try {
            RunningProject running = RunningProject.start(
                    environment,
                    opened,
                    keys,
                    assignment.name(),
                    trustSources,
                    new VmShutdown(ending::shutDownAfterFailure, ending::cutPower));
            runningProject = running;
            AgentAttachStream channel = attachment;
            if (channel != null) {
                serve(running, channel);
            }
            statusFiles.writePhase(AgentVmPhase.READY);
            environment.metrics().projectStarted(Duration.ofNanos(System.nanoTime() - startNs));
            LOG.info("the project is running epoch={}", opened.unlocked().epoch());
        } catch (IOException | RuntimeException e) {
            LOG.error("the project cannot start", e);
            ending.shutDownAfterFailure("the project cannot start: " + (e instanceof IOException ? e.getMessage() : e));
        }
    }

    /** The opener has shown why the VM before this one ended itself. */
    private void deleteLastEnd() {
        OpenedProject opened = openedProject;
        if (opened != null) {
            opened.deleteLastEnd();
        }
    }

    /** Records a failure for the next opener of the drive, unless the drive is not open. */
    private void recordEnd(String why) {
        OpenedProject opened = openedProject;
        if (opened != null) {
            opened.recordEnd(why);
        }
    }

    private void release() {
        statusFiles.writePhase(AgentVmPhase.LEAVING);
        ResourceStack resources = new ResourceStack();
        OpenedProject opened = openedProject;
        if (opened != null) {
            openedProject = null;
            resources.push(() -> statusFiles.volumes().recordClosed(VolumeName.DRIVE));
            resources.push(opened::close);
        }
        RunningProject running = runningProject;
        if (running != null) {
            runningProject = null;
            environment.metrics().projectStopped();
            resources.push(running::close);
        }
        resources.close();
    }
}
