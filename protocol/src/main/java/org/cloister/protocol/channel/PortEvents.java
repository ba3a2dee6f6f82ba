package org.cloister.protocol.channel;

import java.util.function.Consumer;
import org.cloister.protocol.evidence.Claim;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.link.CloseReason;

/** What a host hears of one VM's port; on the port's event loop, which it must not block. */
public interface PortEvents {
    /** A session began. */
    default void began() {}

    /** @param why the port was opened and no session came about; it is opened again */
    default void notBegun(String why) {}

    /** The VM's agent spoke, once a session. */
    default void attached() {}

    /** The session is over, for whatever reason; a next one is tried. */
    default void ended() {}

    /** The host ends the session for what the VM does. What is said here has nothing of the VM's own words in it. */
    default void cut(String why) {}

    /** A request of the VM was refused before it went further. */
    default void refused(CloseReason why) {}

    /**
     * The VM asks for evidence.
     *
     * @param answer is called once, on any thread
     */
    default void asked(Claim claim, Consumer<EvidenceMessage.Answer> answer) {
        answer.accept(new EvidenceMessage.Refused(EvidenceMessage.Why.FAILED));
    }

    /**
     * The VM asks what it is.
     *
     * @param answer is called once, on any thread
     */
    default void askedWhat(Consumer<AssignmentMessage.Answer> answer) {
        answer.accept(new AssignmentMessage.Refused(AssignmentMessage.Why.UNKNOWN));
    }
}
