package org.cloister.protocol.channel;

import io.netty.util.concurrent.Future;
import java.io.IOException;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.evidence.Claim;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.NoEvidence;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.Request;
import org.cloister.protocol.link.Versions;

/** A VM asks its host to vouch for it; docs/protocol.md, section 11. */
public final class EvidenceQuestion {
    private EvidenceQuestion() {}

    /**
     * The future fails with {@link NoEvidence} if the host refuses, and with another exception if it does not answer.
     *
     * @param channel to the VM's host
     */
    public static Future<Envelope> ask(Link channel, Claim claim) {
        return OneQuestion.ask(
                channel,
                new Request.Evidence(Versions.OURS),
                "evidence",
                new EvidenceMessage.Asked(claim).wire(),
                new Framing(LinkLimits.EVIDENCE_BYTES, EvidenceMessage::readAnswer),
                EvidenceQuestion::statement);
    }

    private static Envelope statement(Object answer) throws IOException {
        if (answer instanceof EvidenceMessage.Vouched vouched) {
            return vouched.statement();
        }
        if (answer instanceof EvidenceMessage.Refused refused) {
            throw new NoEvidence(refused.why());
        }
        throw new MalformedException("evidence: want a statement or a refusal, have something else");
    }
}
