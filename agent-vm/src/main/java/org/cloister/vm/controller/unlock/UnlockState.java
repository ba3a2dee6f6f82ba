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
 * State of this VM's one opening: which certificate the VM shows on a circuit that opens now, and which sessions wait
 * for the outcome. The state only advances. Thread-safe. Times are arguments, in nanoseconds.
 */
final class UnlockState {
    /** More circuits than an opener ever has open. */
    private static final int MAX_WAITING = 64;

    private final UnlockServer.Context context;
    private final Queue<Runnable> undecided = new ArrayDeque<>();
    private final Set<OpenerSession> waiting = new HashSet<>();
    private boolean isDeciding;
    private Optional<AcceptedUnlock> accepted = Optional.empty();
    private Optional<VmMessage> outcome = Optional.empty();

    private record AcceptedUnlock(VerifiedUnlock unlocked, long atNs) {
        Instant time(long nowNs) {
            return unlocked.time().plus(Duration.ofNanos(nowNs - atNs));
        }
    }

    UnlockState(UnlockServer.Context context) {
        this.context = context;
    }

    /** Records that an unlock is being decided: until then it is undetermined which certificate the VM shows. */
    synchronized void startDecision() {
        isDeciding = accepted.isEmpty();
    }

    /** Records that the unlock was not accepted. */
    void reject() {
        decided(Optional.empty());
    }

    /** Records that the unlock was accepted: from now on the VM has its authority. */
    void accept(VerifiedUnlock unlocked, long nowNs) {
        decided(Optional.of(new AcceptedUnlock(unlocked, nowNs)));
    }

    private void decided(Optional<AcceptedUnlock> made) {
        Queue<Runnable> actions;
        synchronized (this) {
            isDeciding = false;
            accepted = accepted.or(() -> made);
            actions = new ArrayDeque<>(undecided);
            undecided.clear();
        }
        actions.forEach(Runnable::run);
    }

    /**
     * Runs an action at once, or as soon as a received unlock is decided.
     *
     * @return false if too many actions wait for that
     */
    boolean whenDecided(Runnable action) {
        synchronized (this) {
            if (isDeciding) {
                return undecided.size() < MAX_WAITING && undecided.add(action);
            }
        }
        action.run();
        return true;
    }

    /**
     * Returns the VM's credential by the time that its opener sent; empty while it has only its boot certificate.
     *
     * @throws IOException if its authority has expired
     */
    synchronized Optional<TlsCredential> credential(long nowNs) throws IOException {
        if (accepted.isEmpty()) {
            return Optional.empty();
        }
        AcceptedUnlock unlock = accepted.get();
        return Optional.of(TlsCredential.of(
                context.boot().key(),
                unlock.unlocked
                        .authority()
                        .issue(
                                context.identity().assignment().name(),
                                context.identity().key(),
                                unlock.time(nowNs))));
    }

    /** Returns the accepted unlock; a later unlock must be for the same epoch. */
    synchronized Optional<VerifiedUnlock> unlocked() {
        return accepted.map(AcceptedUnlock::unlocked);
    }

    /** Returns the outcome for the drive; empty while it is unknown. */
    synchronized Optional<VmMessage> outcome() {
        return outcome;
    }

    /** Records that the drive is open, or never will be, and sends this to all waiting sessions. */
    void complete(VmMessage result) {
        Set<OpenerSession> sessions;
        synchronized (this) {
            outcome = outcome.or(() -> Optional.of(result));
            sessions = Set.copyOf(waiting);
            waiting.clear();
        }
        sessions.forEach(each -> each.send(result));
    }

    /** Sends the outcome for the drive on a later circuit, now or as soon as it is known. */
    void sendOutcome(OpenerSession session) {
        Optional<VmMessage> known;
        synchronized (this) {
            known = outcome;
            if (known.isEmpty() && waiting.size() < MAX_WAITING) {
                waiting.add(session);
                return;
            }
        }
        known.ifPresentOrElse(session::send, session::finishOutput);
    }

    synchronized void remove(OpenerSession session) {
        waiting.remove(session);
    }
}
