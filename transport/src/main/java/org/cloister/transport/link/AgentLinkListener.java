package org.cloister.transport.link;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.link.RelayMessage;

/** What an agent hears; every call comes on the link's event loop and must not block it. */
public interface AgentLinkListener {
    /** Attached anew. Names served before are not any more: serve them on this one. */
    void onAttached(AgentAttachStream attachment);

    void onServed(CertificateName name, Optional<CloseReason> refused);

    /** Somebody wants a circuit: dial back on {@code attachment.link()}, or refuse. */
    void onDial(AgentAttachStream attachment, RelayMessage.Dial dial);

    /**
     * A revocation list as its issuer made it; what the link believes has taken it already, if it knows the issuer.
     *
     * @return whether somebody behind this agent took it
     */
    boolean onRevocationList(byte[] signed);

    /** A list that the relay brought and that is not taken; it need be no fault. */
    default void onListRefused(IdentityRefusedException list) {}

    /** @param why for the log */
    void onLost(String why);

    /** The own certificate was renewed; handshakes show the new one from now on. */
    default void onRenewed(Instant until) {}

    /** @param why for the log; it is asked for again */
    default void onRenewalFailed(String why) {}

    /**
     * To a VM alone, once a session: it is to end.
     *
     * @param within after which its host ends it as it is
     */
    default void onShutdownRequest(Duration within) {}

    /** To the site's desk alone: answer on {@code attachment}. */
    default void onRenewalRequest(AgentAttachStream attachment, RelayMessage.RenewalRequested renewal) {}
}
