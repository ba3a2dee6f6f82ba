package org.cloister.transport.channel;

import io.netty.util.concurrent.Future;
import java.io.IOException;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.evidence.AttestationClaims;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.EvidenceRefusedException;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.ProtocolVersions;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.link.StreamRequest;

/** Requests evidence about a VM from its host; docs/protocol.md, section 11. */
public final class EvidenceQuery {
    private EvidenceQuery() {}

    /**
     * Requests a signed statement. The future fails with {@link EvidenceRefusedException} if the host refuses, and with
     * another exception if the host does not answer.
     *
     * @param channel to the VM's host
     */
    public static Future<DsseEnvelope> ask(ClientLink channel, AttestationClaims claim) {
        return SingleRequestStream.ask(
                channel,
                new StreamRequest.Evidence(ProtocolVersions.OURS),
                "evidence",
                new EvidenceMessage.Request(claim).wire(),
                new MessageFraming(ProtocolLimits.EVIDENCE_BYTES, EvidenceMessage::readResponse),
                EvidenceQuery::statement);
    }

    private static DsseEnvelope statement(Object answer) throws IOException {
        if (answer instanceof EvidenceMessage.Granted vouched) {
            return vouched.statement();
        }
        if (answer instanceof EvidenceMessage.Refused refused) {
            throw new EvidenceRefusedException(refused.reason());
        }
        throw new MalformedException("evidence: want a statement or a refusal, have something else");
    }
}
