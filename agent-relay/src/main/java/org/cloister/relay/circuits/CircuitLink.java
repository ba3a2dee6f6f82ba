package org.cloister.relay.circuits;

import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.RelayMessage;

/** Link as the circuit broker uses it: the connection of an agent at one end of a circuit. */
public interface CircuitLink {
    /** Returns whether the agent may open circuits from this name. */
    boolean ownsName(CertificateName name);

    /**
     * Sends a message that another party caused, if the link has room for it.
     *
     * @return false if the message was not sent; the link stays open
     */
    boolean offer(RelayMessage message);
}
