package org.cloister.vm.joining;

import com.google.protobuf.ByteString;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.cloister.protocol.channel.EvidenceQuestion;
import org.cloister.protocol.circuit.Circuit;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.NoEvidence;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.HandOver;
import org.cloister.protocol.handover.Readmission;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.AgentEvents;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.vm.VmMetrics;
import org.cloister.vm.boot.Begun;
import org.cloister.vm.boot.BootPhase;
import org.cloister.vm.boot.BootStatus;
import org.cloister.vm.worker.Phase;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out what a {@link Course} decides: decisions on one thread, what blocks on another. It ends with the VM, or, if
 * nothing was asked of the host yet, with this process.
 */
public final class Worker implements AgentEvents, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Worker.class);
    /** Longer than all steps back together; then the VM goes off whatever is left. */
    private static final Duration LEAVING = Duration.ofMinutes(10);

    private static final org.cloister.protocol.handover.BootPhase KEYS = org.cloister.protocol.handover.BootPhase.KEYS;

    private final SecureRandom random = new SecureRandom();
    private final WorkerLife life;
    private final Course course;
    private final Steps steps;
    private final Begun begun;
    private final Reports reports;
    private final ScheduledExecutorService decisions =
            Executors.newSingleThreadScheduledExecutor(work -> thread(work, "worker"));
    private final ExecutorService hands = Executors.newSingleThreadExecutor(work -> thread(work, "worker-hands"));
    private final CountDownLatch over = new CountDownLatch(1);
    private volatile boolean off;
    private @Nullable Attachment attachment;
    private @Nullable ControllerTalk talk;
    private @Nullable ScheduledFuture<?> wake;

    Worker(WorkerLife life, Course course, Steps steps, Begun begun, Reports reports) {
        this.life = life;
        this.course = course;
        this.steps = steps;
        this.begun = begun;
        this.reports = reports;
    }

    private static Thread thread(Runnable work, String name) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    }

    /**
     * What it says of itself besides, for whoever looks from within, and its times.
     *
     * @param nanos as {@link System#nanoTime}
     */
    record Reports(BootStatus status, VmMetrics metrics, InstantSource clock, LongSupplier nanos) {}

    /** SIGTERM: it leaves. Returns when it has, or after the limit. */
    public void stop(Duration limit) throws InterruptedException {
        tell(new Event.Stop());
        if (!over.await(limit.toMillis(), TimeUnit.MILLISECONDS)) {
            LOG.error("worker: not gone within {} s", limit.toSeconds());
        }
    }

    /**
     * Until nothing is left to do.
     *
     * @return whether the VM ends, too; else this process alone, and another one begins anew
     */
    public boolean awaitEnd() throws InterruptedException {
        over.await();
        return off;
    }

    @Override
    public void attached(Attachment attached) {
        attached.serve(life.name());
        decisions.execute(() -> attachment = attached);
        tell(new Event.Attached());
    }

    @Override
    public void lost(String why) {
        decisions.execute(() -> attachment = null);
        tell(new Event.Detached());
    }

    @Override
    public void served(Name name, Optional<CloseReason> refused) {
        refused.ifPresent(why -> LOG.warn("name {}: not served: {}", name, why));
    }

    @Override
    public void dialled(Attachment attached, RelayMessage.Dial dial) {
        attached.refuse(dial, CloseReason.REFUSED);
    }

    @Override
    public void askedToLeave(Duration within) {
        LOG.warn("the host ends this VM within {} s", within.toSeconds());
        tell(new Event.EndedByHost(within));
    }

    /** What this VM believes has taken it, if its project's owners made it. */
    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes as its end
    public boolean revoked(byte[] signed) {
        decisions.execute(() -> {
            if (talk != null && course.isOpen() && !life.isBelieved(talk.circuit())) {
                LOG.warn("circuit to {}: ended: it was revoked", life.controller());
                talk.circuit().end(CloseReason.REVOKED);
            }
        });
        return false;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // nothing is thrown in it
    private void tell(Event event) {
        if (!decisions.isShutdown()) {
            decisions.execute(() -> decide(event));
        }
    }

    private void decide(Event event) {
        try {
            for (Act act : course.on(event, reports.nanos().getAsLong())) {
                perform(act);
            }
            reports.metrics().circuit(course.isOpen());
            wakeAt(course.wakeNs());
        } catch (RuntimeException e) {
            // Nobody else would end a VM that decides nothing any more, and it has its project's keys.
            LOG.error("worker: a defect; the VM ends", e);
            end(true, "defect");
        }
    }

    private void wakeAt(long whenNs) {
        if (wake != null) {
            wake.cancel(false);
        }
        if (whenNs != Long.MAX_VALUE && !decisions.isShutdown()) {
            long in = Math.max(0, whenNs - reports.nanos().getAsLong());
            wake = decisions.schedule(() -> decide(new Event.Woke()), in, TimeUnit.NANOSECONDS);
        }
    }

    private void perform(Act act) {
        if (act instanceof Act.Call call) {
            call(call.certified());
        } else if (act instanceof Act.Say say) {
            say(say.message());
        } else if (act instanceof Act.HangUp && talk != null) {
            talk.end();
        } else if (act instanceof Act.AskHost ask) {
            askHost(ask.nonce());
        } else if (act instanceof Act.Take take) {
            hands.execute(() -> take(take.handOver(), take.nonce()));
        } else if (act instanceof Act.Readmit anew) {
            hands.execute(() -> readmit(anew.readmission(), anew.fresh()));
        } else if (act instanceof Act.Do todo) {
            hands.execute(() -> take(todo.step()));
        } else if (act instanceof Act.Undo undo) {
            hands.execute(() -> undo(undo));
        } else if (act instanceof Act.Leave leave) {
            leave(leave);
        } else if (act instanceof Act.Sign) {
            hands.execute(() -> tell(new Event.Signed(life.part(steps.erased()))));
        } else if (act instanceof Act.End end) {
            end(end.powerOff(), end.why());
        }
    }

    private void say(VmMessage message) {
        if (message instanceof VmMessage.Ready) {
            life.registered(reports.clock().instant());
            say(BootPhase.READY);
        } else if (message instanceof VmMessage.Passed passed) {
            reports.metrics().passed(phase(passed.phase()), passed.took());
        } else if (message instanceof VmMessage.Trouble trouble) {
            reports.metrics().failed(phase(trouble.phase()));
        }
        if (talk != null) {
            talk.say(message);
        }
    }

    /** A worker has all of them but the controlling VM's drive. */
    private static Phase phase(org.cloister.protocol.handover.BootPhase of) {
        return Phase.valueOf(of.name());
    }

    private void say(BootPhase phase) {
        try {
            reports.status().reached(phase);
        } catch (IOException e) {
            LOG.warn("status: not written: {}; see the folder it is in", e.toString());
        }
    }

    private void call(boolean certified) {
        Attachment on = attachment;
        if (on == null) {
            tell(new Event.Closed());
            return;
        }
        ControllerTalk[] made = new ControllerTalk[1];
        life.call(on.link(), certified, circuit -> {
                    made[0] = new ControllerTalk(
                            circuit,
                            life.turns(certified),
                            message -> tell(new Event.Heard(message)),
                            () -> tell(new Event.Closed()));
                    // Before what is heard on it.
                    decisions.execute(() -> talk = made[0]);
                    tell(new Event.Opened(Nonce.random(random)));
                    return made[0];
                })
                .addListener((Future<Circuit> opened) -> {
                    if (!opened.isSuccess()) {
                        LOG.warn(
                                "circuit to {}: {}; tried again",
                                life.controller(),
                                opened.cause().getMessage());
                        if (made[0] == null) {
                            tell(new Event.Closed());
                        }
                    }
                });
    }

    private void askHost(Nonce nonce) {
        Attachment on = attachment;
        ControllerTalk with = talk;
        try {
            begun.asked(Role.WORKER);
        } catch (IOException e) {
            LOG.error("what is begun cannot be noted: {}", e.toString());
            tell(new Event.NotVouched(nonce, Optional.empty()));
            return;
        }
        if (on == null || with == null) {
            tell(new Event.NotVouched(nonce, Optional.empty()));
            return;
        }
        EvidenceQuestion.ask(on.link(), life.claim(with.circuit(), nonce)).addListener((Future<Envelope> answer) -> {
            if (answer.isSuccess()) {
                vouched(nonce, answer.getNow());
            } else {
                LOG.warn("evidence: {}", answer.cause().getMessage());
                Optional<EvidenceMessage.Why> why =
                        answer.cause() instanceof NoEvidence none ? Optional.of(none.why()) : Optional.empty();
                tell(new Event.NotVouched(nonce, why));
            }
        });
    }

    private void vouched(Nonce nonce, Envelope statement) {
        try {
            life.vouched(statement);
        } catch (IOException e) {
            // It may be of a later release; the controlling VM says what it thinks of it.
            LOG.warn("evidence: {}", e.getMessage());
        }
        say(BootPhase.VOUCHED);
        tell(new Event.Vouched(
                nonce, ByteString.copyFrom(statement.bytes()), reports.clock().instant()));
    }

    private void take(HandOver handOver, Nonce nonce) {
        try {
            life.take(handOver, nonce);
            say(BootPhase.GIVEN);
            tell(new Event.Taken(handOver.lease(), life.given().renewal(), handOver.place()));
        } catch (HandOverRefused e) {
            LOG.error("{}", e.getMessage());
            tell(new Event.NotTaken(KEYS, e.code()));
        } catch (RuntimeException e) {
            // The course does nothing before it hears of this; a hand-over is the first thing read of those that others
            // wrote.
            LOG.error("hand-over: a defect", e);
            tell(new Event.NotTaken(KEYS, "defect"));
        }
    }

    private void readmit(Readmission readmission, Nonce fresh) {
        try {
            life.take(readmission, fresh);
            HandedOver given = life.given();
            boolean opened = readmission.mungeKey().isPresent();
            steps.readmit(given, opened);
            LOG.info("certificate until {}{}", given.until(), opened ? "; the controlling VM was opened anew" : "");
            tell(new Event.Readmitted(fresh, given.lease(), given.renewal()));
        } catch (HandOverRefused e) {
            LOG.error("{}", e.getMessage());
            tell(new Event.NotTaken(KEYS, e.code()));
        } catch (IOException | RuntimeException e) {
            LOG.error("readmission: {}", e.toString());
            tell(new Event.NotTaken(org.cloister.protocol.handover.BootPhase.TUNNEL, "no-readmission"));
        }
    }

    private void take(Step step) {
        long before = System.nanoTime();
        try {
            steps.take(step, life.given());
            LOG.info("{}: done in {} ms", step, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - before));
            if (step == Step.TUNNEL) {
                say(BootPhase.TUNNEL);
            }
            tell(new Event.Did(step));
        } catch (IOException | RuntimeException e) {
            LOG.error("{}: {}", step, e.toString());
            tell(new Event.Failed(step));
        }
    }

    private void undo(Act.Undo undo) {
        try {
            steps.undo(undo.step(), undo.failed());
        } catch (IOException | RuntimeException e) {
            LOG.error("{}: not undone: {}", undo.step(), e.toString());
        }
        tell(new Event.Undid(undo.step()));
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the process ends before, or by it
    private void leave(Act.Leave leave) {
        LOG.info("worker leaves: {}", leave.why());
        Instant now = reports.clock().instant();
        life.leaves(now);
        say(BootPhase.LEAVING);
        decisions.schedule(() -> end(true, "leaving-took-too-long"), LEAVING.toSeconds(), TimeUnit.SECONDS);
    }

    private void end(boolean powerOff, String why) {
        if (over.getCount() == 0) {
            return;
        }
        LOG.info("worker is gone: {}{}", why, powerOff ? "; the VM goes off" : "");
        off = powerOff;
        life.close();
        if (powerOff) {
            steps.powerOff();
        }
        over.countDown();
    }

    @Override
    public void close() {
        decisions.shutdownNow();
        hands.shutdownNow();
        life.close();
    }
}
