package org.cloister.transport.channel;

import java.util.function.Consumer;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.evidence.AttestationClaims;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.handover.AssignmentMessage;

/** Receives the events of one VM's port, on the port's event loop, which it must not block. */
public interface VmPortListener {
    /** A session was opened. */
    default void onSessionOpened() {}

    /**
     * No session was established.
     *
     * @param why the reason why the opened port has no session; the port is opened again
     */
    default void onSessionFailed(String why) {}

    /** The VM's agent attached, once per session. */
    default void onAttached() {}

    /** The session ended, for any reason; another one is tried. */
    default void onSessionClosed() {}

    /** The host ended the session because of the VM's behaviour. The text contains nothing that the VM sent. */
    default void onSessionCut(String why) {}

    /** A request of the VM was refused before it was forwarded. */
    default void onRequestRefused(CloseReason why) {}

    /**
     * The VM requests evidence.
     *
     * @param answer must be called once, on any thread
     */
    default void onEvidenceRequest(AttestationClaims claim, Consumer<EvidenceMessage.Response> answer) {
        answer.accept(new EvidenceMessage.Refused(EvidenceMessage.RefusalReason.FAILED));
    }

    /**
     * The VM requests its assignment.
     *
     * @param answer must be called once, on any thread
     */
    default void onAssignmentRequest(Consumer<AssignmentMessage.Response> answer) {
        answer.accept(new AssignmentMessage.Refused(AssignmentMessage.RefusalReason.UNKNOWN));
    }
}
