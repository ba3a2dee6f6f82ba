package org.cloister.ctl.site;

import com.google.protobuf.ByteString;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.RenewalResult;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLinkListener;

/** Sends a request for a certificate when the link is attached, and waits for its result; a command does not retry. */
final class CertificateResultWaiter implements AgentLinkListener {
    private final String relay;
    private final ByteString request;
    private final CompletableFuture<RenewalResult> first = new CompletableFuture<>();

    /** @param request an enrolment request */
    CertificateResultWaiter(String relay, ByteString request) {
        this.relay = relay;
        this.request = request;
    }

    RenewalResult await() throws NoAnswerException {
        long seconds = ProtocolLimits.RENEWAL_LINK_TIME.toSeconds();
        try {
            return first.get(seconds, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof NoAnswerException why
                    ? why
                    : new NoAnswerException("relay " + relay + ": " + e.getCause());
        } catch (TimeoutException e) {
            throw new NoAnswerException("relay " + relay + ": no answer within " + seconds + " s");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new NoAnswerException("relay " + relay + ": interrupted");
        }
    }

    @Override
    public void onAttached(AgentAttachStream attachment) {
        attachment.renew(request);
    }

    @Override
    public void onCertificateResult(RenewalResult outcome) {
        first.complete(outcome);
    }

    @Override
    public void onLost(String why) {
        first.completeExceptionally(new NoAnswerException("relay " + relay + ": " + why));
    }

    @Override
    public void onServed(CertificateName name, Optional<CloseReason> refused) {
        throw new IllegalStateException("this command serves nobody, not " + name);
    }

    /** Refuses: this command serves no circuits. */
    @Override
    public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
        attachment.refuse(dial, CloseReason.REFUSED);
    }

    @Override
    public boolean onRevocationList(byte[] signed) {
        return false;
    }
}
