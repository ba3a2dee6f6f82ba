package org.cloister.vm.controller.unlock;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.transport.tls.TlsCredential;

/**
 * How far the one opening of this VM is: what the VM shows on a circuit that opens now, and who waits to hear what became of the
 * drive. Goes forward only; from any thread. Time is an argument, in nanoseconds.
 */
final class UnlockState {
    /** More circuits than an opener ever has open. */
    private static final int MAX_WAITING = 64;

    private final UnlockServer.Context terms;
    private final Queue<Runnable> undecided = new ArrayDeque<>();
    private final Set<OpenerSession> waiting = new HashSet<>();
    private boolean deciding;
    private Optional<AcceptedUnlock> taken = Optional.empty();
    private Optional<VmMessage> outcome = Optional.empty();

    private record AcceptedUnlock(VerifiedUnlock unlocked, long atNs) {
        Instant time(long nowNs) {
            return unlocked.time().plus(Duration.ofNanos(nowNs - atNs));
        }
    }

    UnlockState(UnlockServer.Context terms) {
        this.terms = terms;
    }

    /** An unlocking has come and is to be decided: until then it is open what the VM shows. */
    synchronized void startDecision() {
        deciding = taken.isEmpty();
    }

    /** It was not taken. */
    void reject() {
        decided(Optional.empty());
    }

    /** It was taken: from now on the VM has its authority. */
    void accept(VerifiedUnlock unlocked, long nowNs) {
        decided(Optional.of(new AcceptedUnlock(unlocked, nowNs)));
    }

    private void decided(Optional<AcceptedUnlock> made) {
        Queue<Runnable> late;
        synchronized (this) {
            deciding = false;
            taken = taken.or(() -> made);
            late = new ArrayDeque<>(undecided);
            undecided.clear();
        }
        late.forEach(Runnable::run);
    }

    /**
     * Runs it at once, or as soon as an unlocking that has come is decided.
     *
     * @return false if too many wait for that
     */
    boolean whenDecided(Runnable action) {
        synchronized (this) {
            if (deciding) {
                return undecided.size() < MAX_WAITING && undecided.add(action);
            }
        }
        action.run();
        return true;
    }

    /**
     * The chain that the VM has now, by the time that its opener brought; empty while it boots.
     *
     * @throws IOException if its authority has ended
     */
    synchronized Optional<TlsCredential> credential(long nowNs) throws IOException {
        if (taken.isEmpty()) {
            return Optional.empty();
        }
        AcceptedUnlock had = taken.get();
        return Optional.of(TlsCredential.of(
                terms.boot().key(),
                had.unlocked
                        .authority()
                        .issue(
                                terms.identity().assignment().name(),
                                terms.identity().key(),
                                had.time(nowNs))));
    }

    /** What was taken, in which the next unlocking may only be the same. */
    synchronized Optional<VerifiedUnlock> unlocked() {
        return taken.map(AcceptedUnlock::unlocked);
    }

    /** What became of the drive; empty while that is not known. */
    synchronized Optional<VmMessage> outcome() {
        return outcome;
    }

    /** The drive is open, or never will be: says so to all who wait. */
    void complete(VmMessage how) {
        Set<OpenerSession> told;
        synchronized (this) {
            outcome = outcome.or(() -> Optional.of(how));
            told = Set.copyOf(waiting);
            waiting.clear();
        }
        told.forEach(each -> each.send(how));
    }

    /** Says what became of the drive on a later circuit, now or as soon as that is known. */
    void sendOutcome(OpenerSession talk) {
        Optional<VmMessage> known;
        synchronized (this) {
            known = outcome;
            if (known.isEmpty() && waiting.size() < MAX_WAITING) {
                waiting.add(talk);
                return;
            }
        }
        known.ifPresentOrElse(talk::send, talk::finishOutput);
    }

    synchronized void remove(OpenerSession talk) {
        waiting.remove(talk);
    }
}
