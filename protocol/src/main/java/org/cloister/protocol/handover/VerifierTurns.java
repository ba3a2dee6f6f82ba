package org.cloister.protocol.handover;

import org.cloister.protocol.MalformedException;
import org.cloister.protocol.identity.Role;

/** What a verifier may say now, at its VM: the order of a boot conversation. Not for several threads. */
public final class VerifierTurns {
    private enum State {
        NEW,
        QUESTIONED,
        GIVEN,
        OVER
    }

    private final Role own;
    private State state;
    private boolean readmits;

    private VerifierTurns(Role own, State state, boolean readmits) {
        this.own = own;
        this.state = state;
        this.readmits = readmits;
    }

    /** @param own the VM's, of its assignment: it takes what is for that role alone */
    public static VerifierTurns booting(Role own) {
        return new VerifierTurns(own, State.NEW, false);
    }

    /** Of a later circuit, which this worker opened with the certificate that it was given. */
    public static VerifierTurns resuming() {
        return new VerifierTurns(Role.WORKER, State.GIVEN, true);
    }

    /** Of a later circuit with a controlling VM's opener, who hears what became of the drive and says nothing. */
    public static VerifierTurns unlocked() {
        return new VerifierTurns(Role.CONTROLLER, State.GIVEN, false);
    }

    /** @throws MalformedException if it does not belong here: the circuit ends */
    public void heard(VerifierMessage message) throws MalformedException {
        boolean worker = own == Role.WORKER;
        if (message instanceof VerifierMessage.Skipped) {
            return;
        }
        if (state == State.NEW && message instanceof VerifierMessage.Question) {
            state = State.QUESTIONED;
        } else if (message instanceof VerifierMessage.Denied && state != State.OVER) {
            state = State.OVER;
        } else if (state == State.QUESTIONED && (worker ? message instanceof HandOver : message instanceof Unlock)) {
            state = State.GIVEN;
        } else if (readmits && state == State.GIVEN && message instanceof Readmission) {
            readmits = false;
        } else if (worker && state == State.GIVEN && message instanceof VerifierMessage.Release) {
            state = State.OVER;
        } else if (!(worker && state == State.GIVEN && message instanceof VerifierMessage.Beat)) {
            throw new MalformedException("boot conversation of a " + own + " that is " + state
                    + ": want another message, have " + message.getClass().getSimpleName());
        }
    }
}
