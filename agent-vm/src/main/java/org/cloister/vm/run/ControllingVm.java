package org.cloister.vm.run;

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
import org.cloister.protocol.channel.EvidenceQuestion;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.evidence.Claim;
import org.cloister.protocol.handover.Assignment;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.BootCertificate;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.identity.Signer;
import org.cloister.protocol.identity.SubjectKey;
import org.cloister.protocol.link.AgentEvents;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.Trust;
import org.cloister.vm.access.AccessDesk;
import org.cloister.vm.boot.Begun;
import org.cloister.vm.boot.Believed;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.boot.BootPhase;
import org.cloister.vm.drive.DrivePlan;
import org.cloister.vm.opening.OpeningDesk;
import org.cloister.vm.opening.Refusal;
import org.cloister.vm.opening.UnlockRefused;
import org.cloister.vm.opening.Unlocked;
import org.cloister.vm.opening.Unlocking;
import org.cloister.vm.ticket.Site;
import org.cloister.vm.volume.VolumeName;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A VM that was told to be its project's controlling VM: waits for its opener, is opened once, and then is what the project
 * works with until the VM ends.
 */
final class ControllingVm implements AgentEvents {
    private static final Logger LOG = LoggerFactory.getLogger(ControllingVm.class);

    private final Assignment assignment;
    private final BootKeyPairs keys;
    private final Believed believed;
    private final Site site;
    private final Equipment equipment;
    private final Reports reports;
    private final Begun begun;
    private final Ending ending;
    /** Opening, one after the other; blocks. */
    private final ExecutorService work = Executors.newSingleThreadExecutor(task -> new Thread(task, "opening"));

    private final AtomicBoolean over = new AtomicBoolean();
    private final OpeningDesk desk;
    private final AtomicReference<@Nullable Attachment> entered = new AtomicReference<>();
    private volatile @Nullable Attachment attachment;
    private volatile @Nullable RunningProject project;
    /** On the work's thread. */
    private @Nullable Foundation foundation;

    /**
     * @param believed the project of the assignment is
     * @param begun nothing yet
     * @param ending hears once that this VM is over, when all that it had is closed
     */
    ControllingVm(
            Assignment assignment,
            BootKeyPairs keys,
            Believed believed,
            Equipment equipment,
            Reports reports,
            Begun begun,
            Ending ending)
            throws IOException {
        this.assignment = assignment;
        this.keys = keys;
        this.believed = believed;
        this.site = new Site(believed.beliefs());
        this.equipment = equipment;
        this.reports = reports;
        this.begun = begun;
        this.ending = ending;
        Signer signer = Signer.of(keys.signing());
        byte[] boot = BootCertificate.make(
                assignment.name(), SubjectKey.of(keys.shown().signing()), signer, Instant.now(), new SecureRandom());
        this.desk = new OpeningDesk(
                new OpeningDesk.Terms(
                        new Unlocking.Self(assignment, keys.shown().signing(), signer),
                        keys.shown(),
                        Credential.of(keys.signing(), List.of(boot)),
                        Trust.in(believed.beliefs(), Set.of(Role.OPENER))),
                this::vouch,
                this::open,
                this::onWork,
                InstantSource.system(),
                this::end);
        reports.reached(BootPhase.ASSIGNED);
    }

    @Override
    public void attached(Attachment to) {
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

    /** Once, of the two who may see both. */
    private void enter(RunningProject running, Attachment to) {
        if (entered.getAndSet(to) != to) {
            running.attached(to);
        }
    }

    @Override
    public void served(Name name, Optional<CloseReason> refused) {
        refused.ifPresent(why -> LOG.warn("{} is not served: {}", name, why));
    }

    @Override
    public void dialled(Attachment on, RelayMessage.Dial dial) {
        RunningProject running = project;
        if (over.get()) {
            on.refuse(dial, CloseReason.REFUSED);
        } else if (!dial.from().role().equals(Role.WORKER.toString()) && !AccessDesk.isPerson(dial.from())) {
            desk.dialled(on, dial);
        } else if (running == null) {
            LOG.info("{}: too early", dial.from());
            on.refuse(dial, CloseReason.REFUSED);
        } else {
            running.dialled(on, dial);
        }
    }

    /** The channel's beliefs have taken it; who has something open looks there each second. */
    @Override
    public boolean revoked(byte[] signed) {
        return false;
    }

    @Override
    public void lost(String why) {
        attachment = null;
    }

    /** In good order, as far as the time lasts: a drive that is open when the host ends the VM is one after a power cut. */
    @Override
    public void askedToLeave(Duration within) {
        if (over.compareAndSet(false, true)) {
            LOG.info("the host ends this VM within {} s", within.toSeconds());
            onWork(() -> conclude("its host ends it"));
        }
    }

    /** SIGTERM: all that the VM had ends in good order, and the VM with it if nobody else could go on. */
    void stop(Duration limit) throws InterruptedException {
        if (over.compareAndSet(false, true)) {
            LOG.info("the controlling VM ends: stopped");
            onWork(() -> {
                try {
                    release();
                } finally {
                    if (begun.isAsked()) {
                        ending.end("stopped");
                    }
                }
            });
        }
        work.shutdown();
        if (!work.awaitTermination(limit.toMillis(), TimeUnit.MILLISECONDS)) {
            LOG.error("controlling VM: not ended within {} s", limit.toSeconds());
        }
    }

    /** What comes after the end is nobody's any more. */
    private void onWork(Runnable task) {
        try {
            work.execute(task);
        } catch (RejectedExecutionException e) {
            LOG.debug("opening: over: {}", e.getMessage());
        }
    }

    private Future<Envelope> vouch(Claim claim) {
        Attachment channel = attachment;
        if (channel == null) {
            throw new IllegalStateException("evidence: asked for in a circuit, and there is no channel");
        }
        try {
            begun.asked(Role.CONTROLLER);
        } catch (IOException e) {
            return channel.link().loop().newFailedFuture(e);
        }
        return EvidenceQuestion.ask(channel.link(), claim).addListener(answer -> {
            if (answer.isSuccess()) {
                reports.reached(BootPhase.VOUCHED);
            }
        });
    }

    private VmMessage.Opened open(Unlocked unlocked) throws UnlockRefused {
        Foundation.Laid laid = Foundation.lay(equipment, keys, unlocked);
        foundation = laid.foundation();
        // By the time that the opener has brought: lists that came before may not have held by the host's.
        believed.believe(Anchors.none().withProject(unlocked.papers().project()).withSite(unlocked.siteKeys()));
        reports.reached(BootPhase.GIVEN);
        try {
            reports.volumes().opened(VolumeName.DRIVE, equipment.cryptsetup(), DrivePlan.MAPPING, DrivePlan.AT);
        } catch (IOException e) {
            throw new UnlockRefused(Refusal.CONTROLLER, e);
        }
        // After the opener was told: the drive is open, and this takes longer.
        onWork(() -> begin(laid.foundation()));
        return laid.opened();
    }

    private void begin(Foundation ground) {
        if (over.get()) {
            return;
        }
        long begin = System.nanoTime();
        RunningProject.Believing believing = new RunningProject.Believing(believed.beliefs(), site);
        try {
            RunningProject running = RunningProject.start(
                    equipment, ground, keys, assignment.name(), believing, new Ending(this::end, this::cut));
            project = running;
            Attachment channel = attachment;
            if (channel != null) {
                enter(running, channel);
            }
            reports.reached(BootPhase.READY);
            equipment.metrics().working(Duration.ofNanos(System.nanoTime() - begin));
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

    /** Also one that is ending in good order. */
    private void cut(String why) {
        over.set(true);
        LOG.error("this VM ends at once: {}", why);
        ending.cut(why);
    }

    private void conclude(String why) {
        try {
            release();
        } finally {
            ending.end(why);
        }
    }

    private void release() {
        reports.reached(BootPhase.LEAVING);
        Parts left = new Parts();
        Foundation ground = foundation;
        if (ground != null) {
            foundation = null;
            left.push(() -> reports.volumes().closed(VolumeName.DRIVE));
            left.push(ground::close);
        }
        RunningProject running = project;
        if (running != null) {
            project = null;
            equipment.metrics().workingEnded();
            left.push(running::close);
        }
        left.close();
    }
}
