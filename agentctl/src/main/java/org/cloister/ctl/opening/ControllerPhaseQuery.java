package org.cloister.ctl.opening;

import io.netty.util.concurrent.Future;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.circuit.CircuitException;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.tls.TlsCredential;

/**
 * Question to a controlling VM how far its opening is: a circuit from a device's own name, which the VM always refuses,
 * with a reason that answers it (docs/protocol.md, section 9).
 */
@SuppressWarnings("FutureReturnValueIgnored") // a circuit that opens in spite of all is closed without waiting
final class ControllerPhaseQuery {
    private static final long WAIT_S = 15;
    /** No policy is needed for a circuit that is never opened. */
    private static final Digest NO_POLICY = Digest.sha384(new byte[0]);

    private ControllerPhaseQuery() {}

    /**
     * Returns the VM's reason.
     *
     * @param device credential of the device's own name
     * @return empty if the VM did not answer, or the relay refused
     */
    static Optional<CloseReason> ask(
            ClientLink link,
            CertificateName from,
            CertificateName to,
            TlsCredential device,
            CertifiedPeerVerifier trust)
            throws InterruptedException {
        Future<Circuit> opened =
                Circuit.open(link, new CircuitTerms(from, to, NO_POLICY), device, trust, (pipeline, circuit) -> {});
        opened.addListener((Future<Circuit> unexpected) -> {
            if (unexpected.isSuccess()) {
                unexpected.getNow().close(CloseReason.DONE);
            }
        });
        return opened.await(WAIT_S, TimeUnit.SECONDS)
                        && opened.cause() instanceof CircuitException failure
                        && failure.close().side() == CircuitClose.Side.TARGET
                ? Optional.of(failure.close().reason())
                : Optional.empty();
    }
}
