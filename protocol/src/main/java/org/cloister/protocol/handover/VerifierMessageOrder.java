package org.cloister.protocol.handover;

import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.identity.CertificateRole;

/** What a verifier may say now, at its VM: the order of a boot conversation. Not for several threads. */
public final class VerifierMessageOrder {
    private enum State {
        NEW,
        QUESTIONED,
        GIVEN,
        OVER
    }

    private final CertificateRole own;
    private State state;
    private boolean readmits;

    private VerifierMessageOrder(CertificateRole own, State state, boolean readmits) {
        this.own = own;
        this.state = state;
        this.readmits = readmits;
    }

    /** @param own the VM's, of its assignment: it takes what is for that role alone */
    public static VerifierMessageOrder forBoot(CertificateRole own) {
        return new VerifierMessageOrder(own, State.NEW, false);
    }

    /** Of a later circuit, which this worker opened with the certificate that it was given. */
    public static VerifierMessageOrder forResume() {
        return new VerifierMessageOrder(CertificateRole.WORKER, State.GIVEN, true);
    }

    /** Of a later circuit with a controlling VM's opener, who hears what became of the drive and says nothing. */
    public static VerifierMessageOrder forUnlocked() {
        return new VerifierMessageOrder(CertificateRole.CONTROLLER, State.GIVEN, false);
    }

    /** @throws MalformedException if it does not belong here: the circuit ends */
    public void accept(VerifierMessage message) throws MalformedException {
        boolean worker = own == CertificateRole.WORKER;
        if (message instanceof VerifierMessage.UnknownMessage) {
            return;
        }
        if (state == State.NEW && message instanceof VerifierMessage.Question) {
            state = State.QUESTIONED;
        } else if (message instanceof VerifierMessage.Denied && state != State.OVER) {
            state = State.OVER;
        } else if (state == State.QUESTIONED
                && (worker ? message instanceof HandoverDocument : message instanceof ProjectUnlock)) {
            state = State.GIVEN;
        } else if (readmits && state == State.GIVEN && message instanceof ReadmissionGrant) {
            readmits = false;
        } else if (worker && state == State.GIVEN && message instanceof VerifierMessage.Release) {
            state = State.OVER;
        } else if (!(worker && state == State.GIVEN && message instanceof VerifierMessage.LeaseRenewal)) {
            throw new MalformedException("boot conversation of a " + own + " that is " + state
                    + ": want another message, have " + message.getClass().getSimpleName());
        }
    }
}
