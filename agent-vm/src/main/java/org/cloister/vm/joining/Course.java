package org.cloister.vm.joining;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.HandOver;
import org.cloister.protocol.handover.Place;
import org.cloister.protocol.handover.Readmission;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.jspecify.annotations.Nullable;

/**
 * What a worker does next, from its assignment to its end. No I/O and no clock: time is an argument, in nanoseconds. Whatever
 * fails is said to the controlling VM and ends the VM. Not for several threads.
 */
final class Course {
    /** For a hand-over; a controlling VM that does not answer for so long has no use for this worker. */
    static final Duration PATIENCE = Duration.ofMinutes(15);

    private static final long NEVER = Long.MAX_VALUE;

    private final Duration boot;
    private final Deque<Step> begun = new ArrayDeque<>();
    private final Deque<VmMessage> unsaid = new ArrayDeque<>();
    private final long patienceNs;
    private final Line line;
    private final Vouching vouching = new Vouching();
    private final Lease lease = new Lease();
    private final Renewing renewing = new Renewing();
    private final Parting parting = new Parting();
    private List<Act> acts = new ArrayList<>();
    private Stage stage = Stage.WAITING;
    private boolean attached;
    private boolean busy;
    private @Nullable Place place;
    private @Nullable ByteString part;
    private long phaseNs;

    private Course(Duration boot, long nowNs) {
        this.boot = boot;
        this.patienceNs = nowNs + PATIENCE.toNanos();
        this.line = new Line(nowNs);
    }

    /** @param boot how long it took from the kernel's start to the assignment */
    static Course assigned(Duration boot, long nowNs) {
        return new Course(boot, nowNs);
    }

    /** @return what to do now */
    List<Act> on(Event event, long nowNs) {
        acts = new ArrayList<>();
        if (stage == Stage.OVER) {
            return acts;
        }
        if (event instanceof Event.Attached || event instanceof Event.Detached) {
            attached = event instanceof Event.Attached;
        } else if (event instanceof Event.Opened opened) {
            opened(opened.fresh(), nowNs);
        } else if (event instanceof Event.Closed) {
            closed(nowNs);
        } else if (event instanceof Event.Heard heard) {
            heard(heard.message(), nowNs);
        } else if (event instanceof Event.Vouched vouched) {
            vouched(vouched, nowNs);
        } else if (event instanceof Event.NotVouched none) {
            notVouched(none, nowNs);
        } else if (event instanceof Event.Stop) {
            leave("stopped", false, nowNs);
        } else if (event instanceof Event.EndedByHost end) {
            parting.endedByHost(end.within(), nowNs);
            // Who has a job here wants to know what became of it.
            leave("host", stage == Stage.SERVING, nowNs);
        } else if (event instanceof Event.Woke) {
            wake(nowNs);
        } else {
            worked(event, nowNs);
        }
        proceed(nowNs);
        return acts;
    }

    /** When to be woken if nothing else happens; {@link Long#MAX_VALUE} for never. */
    long wakeNs() {
        long wake = stage == Stage.WAITING ? Math.min(patienceNs, vouching.wakeNs()) : NEVER;
        if (wantsLine() && attached && line.isWanting()) {
            wake = Math.min(wake, line.callNs());
        }
        if (beats()) {
            wake = Math.min(wake, lease.beatNs());
        }
        if (stage == Stage.JOINING || stage == Stage.SERVING) {
            wake = Math.min(wake, lease.endNs());
        }
        if (mayRenew()) {
            wake = Math.min(wake, renewing.dueNs());
        }
        return stage == Stage.FAREWELL && !busy ? Math.min(wake, parting.farewellNs()) : wake;
    }

    /** When the controlling VM has to be heard of next; {@link Long#MAX_VALUE} before the hand-over. */
    long leaseNs() {
        return lease.endNs();
    }

    boolean isOpen() {
        return line.isOpen();
    }

    private boolean isGiven() {
        return place != null;
    }

    private boolean wantsLine() {
        return switch (stage) {
            case WAITING, JOINING, SERVING -> true;
            case LEAVING, FAREWELL -> isGiven();
            case TAKING, ENDING, OVER -> false;
        };
    }

    private boolean mayRenew() {
        return stage == Stage.SERVING && !busy && line.isOpen();
    }

    private boolean beats() {
        boolean talks = stage == Stage.JOINING || stage == Stage.SERVING || stage == Stage.LEAVING;
        return talks && isGiven() && line.isOpen();
    }

    private void wake(long nowNs) {
        if (stage == Stage.WAITING && nowNs >= patienceNs) {
            leave("no-hand-over", true, nowNs);
        } else if (stage == Stage.WAITING && vouching.isOver(nowNs)) {
            acts.add(new Act.Say(new VmMessage.NoStatement(EvidenceMessage.Why.FAILED)));
            acts.add(new Act.HangUp());
        } else if ((stage == Stage.JOINING || stage == Stage.SERVING) && lease.isOver(nowNs)) {
            leave("lease", true, nowNs);
        } else if (stage == Stage.FAREWELL && !busy && nowNs >= parting.farewellNs()) {
            end(nowNs);
        }
    }

    /** What its time has come for. */
    private void proceed(long nowNs) {
        if (wantsLine() && attached && line.isWanting() && nowNs >= line.callNs()) {
            line.called();
            acts.add(new Act.Call(isGiven()));
        }
        if (stage == Stage.WAITING) {
            vouching.ask(nowNs).ifPresent(question -> acts.add(new Act.AskHost(question)));
        }
        if (stage == Stage.SERVING && !busy) {
            readmit();
        }
        if (mayRenew() && renewing.isDue(nowNs)) {
            line.hungUp();
            acts.add(new Act.HangUp());
        }
        if (beats() && lease.beats(nowNs)) {
            acts.add(new Act.Say(new VmMessage.Beat()));
        }
    }

    private void opened(Nonce fresh, long nowNs) {
        line.opened();
        vouching.opened(nowNs);
        Place own = place;
        if (own == null) {
            return;
        }
        renewing.opened(fresh);
        acts.add(new Act.Say(new VmMessage.Resume(own.ticket(), own.slot(), own.vm(), fresh)));
        lease.beatNow(nowNs);
        if (stage == Stage.SERVING && unsaid.stream().noneMatch(VmMessage.Ready.class::isInstance)) {
            // It may have been on its way when the circuit before broke, and is said as often as that.
            acts.add(new Act.Say(new VmMessage.Ready()));
        }
        unsaid.forEach(message -> acts.add(new Act.Say(message)));
        unsaid.clear();
        sayPart(nowNs);
    }

    private void closed(long nowNs) {
        line.closed(nowNs);
        renewing.closed();
        if (stage == Stage.WAITING) {
            vouching.closed();
        } else if (stage == Stage.FAREWELL && !busy && (part == null || !isGiven())) {
            end(nowNs);
        }
    }

    private void heard(VerifierMessage message, long nowNs) {
        line.heard();
        lease.heard(nowNs);
        if (message instanceof VerifierMessage.Question question && stage == Stage.WAITING) {
            vouching.question(question.nonce(), nowNs);
        } else if (message instanceof HandOver handOver
                && stage == Stage.WAITING
                && vouching.question().isPresent()) {
            stage = Stage.TAKING;
            busy = true;
            acts.add(new Act.Take(handOver, vouching.question().get()));
        } else if (message instanceof Readmission readmission) {
            renewing.came(readmission);
        } else if (message instanceof VerifierMessage.Denied) {
            leave("denied", true, nowNs);
        } else if (message instanceof VerifierMessage.Release) {
            leave("released", false, nowNs);
        }
    }

    private void vouched(Event.Vouched vouched, long nowNs) {
        if (stage == Stage.WAITING && vouching.answered(vouched.nonce(), nowNs)) {
            acts.add(new Act.Say(new VmMessage.Shown(vouched.statement(), vouched.clock())));
        }
    }

    private void notVouched(Event.NotVouched none, long nowNs) {
        if (stage != Stage.WAITING || !vouching.notAnswered(none.nonce(), nowNs)) {
            return;
        }
        if (none.why().equals(Optional.of(EvidenceMessage.Why.ANOTHER))) {
            acts.add(new Act.Say(new VmMessage.NoStatement(EvidenceMessage.Why.ANOTHER)));
            leave("no-statement", true, nowNs);
        }
    }

    /** Something that was to be done is done, or could not be. */
    private void worked(Event event, long nowNs) {
        busy = false;
        if (event instanceof Event.Taken taken) {
            taken(taken, nowNs);
        } else if (event instanceof Event.NotTaken none && !isLeaving()) {
            say(new VmMessage.Trouble(none.phase(), none.code()));
            leave(none.code(), true, nowNs);
        } else if (event instanceof Event.Did did && stage == Stage.JOINING) {
            did(did.step(), nowNs);
        } else if (event instanceof Event.Failed none && stage == Stage.JOINING) {
            say(new VmMessage.Trouble(none.step().phase(), none.step().code()));
            leave(none.step().code(), true, nowNs);
        } else if (event instanceof Event.Readmitted done && !isLeaving()) {
            readmitted(done, nowNs);
        } else if (event instanceof Event.Signed signed && stage == Stage.FAREWELL) {
            signed(signed, nowNs);
        } else {
            undo(nowNs);
        }
    }

    private void taken(Event.Taken taken, long nowNs) {
        place = taken.place();
        renewing.has(taken.renewal(), nowNs);
        lease.given(taken.lease(), nowNs);
        say(new VmMessage.Passed(BootPhase.BOOT, boot));
        say(new VmMessage.Passed(BootPhase.EVIDENCE, vouching.took()));
        say(new VmMessage.Passed(BootPhase.KEYS, Duration.ofNanos(nowNs - vouching.shownNs())));
        phaseNs = nowNs;
        if (stage == Stage.TAKING) {
            stage = Stage.JOINING;
            begin(Step.MEMORY);
        } else {
            undo(nowNs);
        }
    }

    private void begin(Step step) {
        busy = true;
        begun.addLast(step);
        acts.add(new Act.Do(step));
    }

    private void did(Step step, long nowNs) {
        Optional<Step> next = step.next();
        if (next.isEmpty() || next.get().phase() != step.phase()) {
            say(new VmMessage.Passed(step.phase(), Duration.ofNanos(nowNs - phaseNs)));
            phaseNs = nowNs;
        }
        if (next.isEmpty()) {
            stage = Stage.SERVING;
            say(new VmMessage.Ready());
        } else if (!readmit()) {
            begin(next.get());
        }
    }

    /** Between two steps, or when all are done. @return whether there is something to take */
    private boolean readmit() {
        Optional<Act.Readmit> next = renewing.take();
        next.ifPresent(each -> {
            busy = true;
            acts.add(each);
        });
        return next.isPresent();
    }

    private void readmitted(Event.Readmitted done, long nowNs) {
        lease.given(done.lease(), nowNs);
        renewing.has(done.renewal(), nowNs);
        if (renewing.isOf(done.fresh())) {
            // On no other circuit: whoever is there now may be another boot, and sends its own.
            acts.add(new Act.Say(new VmMessage.Readmitted(done.fresh())));
        }
        Optional<Step> next = Optional.ofNullable(begun.peekLast()).flatMap(Step::next);
        if (stage == Stage.JOINING && next.isPresent()) {
            begin(next.get());
        }
    }

    private boolean isLeaving() {
        return stage.compareTo(Stage.LEAVING) >= 0;
    }

    /** Heard at once, or first on the next circuit. */
    private void say(VmMessage message) {
        if (line.isOpen()) {
            acts.add(new Act.Say(message));
        } else if (isGiven()) {
            unsaid.addLast(message);
        }
    }

    private void leave(String code, boolean isFailure, long nowNs) {
        if (isLeaving()) {
            return;
        }
        parting.begin(code, isFailure, nowNs);
        stage = Stage.LEAVING;
        acts.add(new Act.Leave(code, isFailure));
        if (!busy) {
            undo(nowNs);
        }
    }

    /** The last that was begun and is not undone yet; between the node and the network come the last words. */
    private void undo(long nowNs) {
        Step last = begun.peekLast();
        if (stage == Stage.LEAVING && (last == null || last.isOutlived())) {
            farewell(nowNs);
        } else if (last == null) {
            stage = Stage.OVER;
            acts.add(new Act.End(vouching.wasAsked() || parting.isByHost(), parting.why()));
        } else {
            busy = true;
            begun.removeLast();
            acts.add(new Act.Undo(last, parting.isFailure()));
        }
    }

    private void farewell(long nowNs) {
        stage = Stage.FAREWELL;
        parting.speak(nowNs);
        if (isGiven()) {
            busy = true;
            acts.add(new Act.Sign());
        } else if (line.isOpen()) {
            acts.add(new Act.HangUp());
        } else {
            end(nowNs);
        }
    }

    private void signed(Event.Signed signed, long nowNs) {
        say(new VmMessage.Passed(BootPhase.TEARDOWN, parting.took(nowNs)));
        if (signed.part().isPresent()) {
            part = signed.part().get();
            sayPart(nowNs);
        } else if (line.isOpen()) {
            acts.add(new Act.HangUp());
        } else {
            end(nowNs);
        }
    }

    private void sayPart(long nowNs) {
        if (part != null && line.isOpen()) {
            acts.add(new Act.Say(new VmMessage.Part(part)));
            acts.add(new Act.HangUp());
            part = null;
            parting.speak(nowNs);
        }
    }

    private void end(long nowNs) {
        stage = Stage.ENDING;
        undo(nowNs);
    }
}
