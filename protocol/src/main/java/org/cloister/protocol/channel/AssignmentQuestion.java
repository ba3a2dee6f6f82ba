package org.cloister.protocol.channel;

import io.netty.util.concurrent.Future;
import java.io.IOException;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.handover.Assignment;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.handover.NoAssignment;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.Request;
import org.cloister.protocol.link.Versions;

/** A VM asks its host what it is; docs/protocol.md, section 10. */
public final class AssignmentQuestion {
    private AssignmentQuestion() {}

    /**
     * The project's documents have been verified when the future succeeds. It fails with {@link NoAssignment} if the host
     * does not say, and with another exception if it does not answer or what it says does not hold.
     *
     * @param channel to the VM's host
     */
    public static Future<Assignment> ask(Link channel) {
        return OneQuestion.ask(
                channel,
                new Request.Assignment(Versions.OURS),
                "assignment",
                new AssignmentMessage.Asked().wire(),
                new Framing(LinkLimits.ASSIGNMENT_BYTES, AssignmentMessage::readAnswer),
                AssignmentQuestion::assignment);
    }

    private static Assignment assignment(Object answer) throws IOException {
        if (answer instanceof AssignmentMessage.Told told) {
            return Assignment.of(told);
        }
        if (answer instanceof AssignmentMessage.Refused refused) {
            throw new NoAssignment(refused.why());
        }
        throw new MalformedException("assignment: want one or a refusal, have something else");
    }
}
