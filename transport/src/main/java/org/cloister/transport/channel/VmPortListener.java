package org.cloister.transport.channel;

import java.util.function.Consumer;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.evidence.AttestationClaims;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.handover.AssignmentMessage;

/** What a host hears of one VM's port; on the port's event loop, which it must not block. */
public interface VmPortListener {
    /** A session began. */
    default void onSessionOpened() {}

    /** @param why the port was opened and no session came about; it is opened again */
    default void onSessionFailed(String why) {}

    /** The VM's agent spoke, once a session. */
    default void onAttached() {}

    /** The session is over, for whatever reason; a next one is tried. */
    default void onSessionClosed() {}

    /** The host ends the session for what the VM does. What is said here has nothing of the VM's own words in it. */
    default void onSessionCut(String why) {}

    /** A request of the VM was refused before it went further. */
    default void onRequestRefused(CloseReason why) {}

    /**
     * The VM asks for evidence.
     *
     * @param answer is called once, on any thread
     */
    default void onEvidenceRequest(AttestationClaims claim, Consumer<EvidenceMessage.Response> answer) {
        answer.accept(new EvidenceMessage.Refused(EvidenceMessage.RefusalReason.FAILED));
    }

    /**
     * The VM asks what it is.
     *
     * @param answer is called once, on any thread
     */
    default void onAssignmentRequest(Consumer<AssignmentMessage.Response> answer) {
        answer.accept(new AssignmentMessage.Refused(AssignmentMessage.RefusalReason.UNKNOWN));
    }
}
