package org.cloister.transport.link;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.RenewalResult;

/** Receives an agent's events, on the link's event loop, which it must not block. */
public interface AgentLinkListener {
    /** The agent is attached. Names served on an earlier attachment are no longer served: serve them on this one. */
    void onAttached(AgentAttachStream attachment);

    void onServed(CertificateName name, Optional<CloseReason> refused);

    /** A peer requests a circuit: dial back on {@code attachment.link()}, or refuse, which is the default. */
    default void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
        attachment.refuse(dial, CloseReason.REFUSED);
    }

    /**
     * A revocation list was received, as its issuer signed it; the link's trust store has already added it if it knows
     * the issuer.
     *
     * @return whether a party behind this agent accepted it
     */
    default boolean onRevocationList(byte[] signed) {
        return false;
    }

    /** A list from the relay was not accepted; that need not be an error. */
    default void onListRefused(IdentityRefusedException list) {}

    /**
     * The link was lost or is draining; another connection is dialled.
     *
     * @param why for the log
     */
    void onLost(String why);

    /** The own certificate was renewed; handshakes use the new one from now on. */
    default void onRenewed(Instant until) {}

    /**
     * The renewal of the own certificate failed.
     *
     * @param why for the log; the renewal is requested again
     */
    default void onRenewalFailed(String why) {}

    /**
     * A request for a certificate that this listener sent itself, with {@link AgentAttachStream#renew}, was answered;
     * on links without a {@link RenewalClient}. Neither the relay nor the answer is trusted.
     */
    default void onCertificateResult(RenewalResult outcome) {}

    /**
     * The VM must shut down; for a VM only, once per session.
     *
     * @param within time after which its host stops it forcibly
     */
    default void onShutdownRequest(Duration within) {}

    /** A renewal was requested; for the registration authority only, which answers on {@code attachment}. */
    default void onRenewalRequest(AgentAttachStream attachment, RelayMessage.RenewalRequested renewal) {}
}
