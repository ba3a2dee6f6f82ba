package org.cloister.ctl.site;

import com.google.protobuf.ByteString;
import org.cloister.ctl.circuit.LinkEventWaiter;
import org.cloister.protocol.link.RenewalResult;
import org.cloister.transport.link.AgentAttachStream;

/** Sends a request for a certificate when the link is attached, and waits for its result. */
final class CertificateResultWaiter extends LinkEventWaiter<RenewalResult> {
    private final ByteString request;

    /** @param request an enrolment request */
    CertificateResultWaiter(String relay, ByteString request) {
        super("relay " + relay);
        this.request = request;
    }

    @Override
    public void onAttached(AgentAttachStream attachment) {
        attachment.renew(request);
    }

    @Override
    public void onCertificateResult(RenewalResult outcome) {
        complete(outcome);
    }
}
