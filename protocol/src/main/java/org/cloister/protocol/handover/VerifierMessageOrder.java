package org.cloister.protocol.handover;

import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.identity.CertificateRole;

/** Order of a verifier's messages in a boot conversation, as the VM enforces it. Not thread-safe. */
public final class VerifierMessageOrder {
    private enum State {
        NEW,
        QUESTIONED,
        HANDED_OVER,
        OVER
    }

    private final CertificateRole own;
    private State state;
    private boolean readmits;
    private boolean isAcknowledged;

    private VerifierMessageOrder(CertificateRole own, State state, boolean readmits) {
        this.own = own;
        this.state = state;
        this.readmits = readmits;
    }

    /**
     * Returns the order for a booting VM.
     *
     * @param own the VM's role, from its assignment: only messages for that role are accepted
     */
    public static VerifierMessageOrder forBoot(CertificateRole own) {
        return new VerifierMessageOrder(own, State.NEW, false);
    }

    /** Returns the order for a later circuit, which this worker opened with the certificate that it received. */
    public static VerifierMessageOrder forResume() {
        return new VerifierMessageOrder(CertificateRole.WORKER, State.HANDED_OVER, true);
    }

    /**
     * Returns the order for a later circuit with a controlling VM's opener, who receives the drive's state and sends
     * nothing but its acknowledgement.
     */
    public static VerifierMessageOrder forUnlocked() {
        return new VerifierMessageOrder(CertificateRole.CONTROLLER, State.HANDED_OVER, false);
    }

    /**
     * Checks that the message may be sent now, and records it.
     *
     * @throws MalformedException if the message is out of order: the circuit ends
     */
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
            state = State.HANDED_OVER;
        } else if (readmits && state == State.HANDED_OVER && message instanceof ReadmissionGrant) {
            readmits = false;
        } else if (worker && state == State.HANDED_OVER && message instanceof VerifierMessage.Release) {
            state = State.OVER;
        } else if (!worker
                && !isAcknowledged
                && state == State.HANDED_OVER
                && message instanceof VerifierMessage.Acknowledgement) {
            isAcknowledged = true;
        } else if (!(worker && state == State.HANDED_OVER && message instanceof VerifierMessage.LeaseRenewal)) {
            throw new MalformedException("boot conversation of a " + own + " that is " + state
                    + ": want another message, have " + message.getClass().getSimpleName());
        }
    }
}
