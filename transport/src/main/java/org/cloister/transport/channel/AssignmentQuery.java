package org.cloister.transport.channel;

import io.netty.util.concurrent.Future;
import java.io.IOException;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.handover.AssignmentRefusedException;
import org.cloister.protocol.handover.VmAssignment;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.ProtocolVersions;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.link.StreamRequest;

/** Requests a VM's assignment from its host; docs/protocol.md, section 10. */
public final class AssignmentQuery {
    private AssignmentQuery() {}

    /**
     * Requests the assignment; the project's documents are verified when the future succeeds. It fails with
     * {@link AssignmentRefusedException} if the host refuses, and with another exception if the host does not answer or
     * its answer is invalid.
     *
     * @param channel to the VM's host
     */
    public static Future<VmAssignment> ask(ClientLink channel) {
        return SingleRequestStream.ask(
                channel,
                new StreamRequest.Assignment(ProtocolVersions.OURS),
                "assignment",
                new AssignmentMessage.Request().wire(),
                new MessageFraming(ProtocolLimits.ASSIGNMENT_BYTES, AssignmentMessage::readResponse),
                AssignmentQuery::assignment);
    }

    private static VmAssignment assignment(Object answer) throws IOException {
        if (answer instanceof AssignmentMessage.Assigned assigned) {
            return VmAssignment.of(assigned);
        }
        if (answer instanceof AssignmentMessage.Refused refused) {
            throw new AssignmentRefusedException(refused.reason());
        }
        throw new MalformedException("assignment: want one or a refusal, have something else");
    }
}
