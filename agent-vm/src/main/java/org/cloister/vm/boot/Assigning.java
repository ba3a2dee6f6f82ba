package org.cloister.vm.boot;

import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.channel.AssignmentQuestion;
import org.cloister.protocol.handover.Assignment;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.handover.NoAssignment;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.AgentEvents;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.RelayMessage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the host what this VM is until it says so, and begins that; from then on whoever was begun hears what comes. All on the
 * channel's event loop.
 */
public final class Assigning implements AgentEvents {
    private static final Logger LOG = LoggerFactory.getLogger(Assigning.class);
    private static final long FIRST_MS = 1000;
    private static final long LONGEST_MS = 30_000;

    private final Believed believed;
    private final Assigned assigned;
    private final Runnable off;

    private @Nullable Attachment current;
    private @Nullable AgentEvents begun;
    private long pauseMs = FIRST_MS;

    /** Begins what the VM is for. */
    @FunctionalInterface
    public interface Assigned {
        /** @return hears of the channel, from its present attachment on */
        AgentEvents begin(Assignment assignment);
    }

    /**
     * @param believed the project of the assignment is, before anything is begun
     * @param off ends a VM that has begun nothing
     */
    public Assigning(Believed believed, Assigned assigned, Runnable off) {
        this.believed = believed;
        this.assigned = assigned;
        this.off = off;
    }

    @Override
    public void attached(Attachment attachment) {
        current = attachment;
        if (begun == null) {
            ask(attachment);
        } else {
            begun.attached(attachment);
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the loop's own timer
    private void ask(Attachment attachment) {
        AssignmentQuestion.ask(attachment.link()).addListener((Future<Assignment> answer) -> {
            if (begun != null || current != attachment) {
                return;
            }
            if (answer.isSuccess()) {
                begin(attachment, answer.getNow());
            } else if (answer.cause() instanceof NoAssignment none && none.why() == AssignmentMessage.Why.UNKNOWN) {
                begun = new Unassigned(off);
                begun.attached(attachment);
            } else {
                LOG.warn("assignment: {}; asked for again", answer.cause().getMessage());
                attachment.link().loop().schedule(() -> again(attachment), pauseMs, TimeUnit.MILLISECONDS);
                pauseMs = Math.min(2 * pauseMs, LONGEST_MS);
            }
        });
    }

    private void again(Attachment attachment) {
        if (begun == null && current == attachment) {
            ask(attachment);
        }
    }

    private void begin(Attachment attachment, Assignment assignment) {
        LOG.info("this VM is {}, asked for by {}", assignment.name(), assignment.requester());
        believed.believe(Anchors.none().withProject(assignment.project()));
        begun = assigned.begin(assignment);
        begun.attached(attachment);
    }

    /** Whatever the host would have said it was for. */
    @Override
    public void askedToLeave(Duration within) {
        if (begun == null) {
            begun = new Unassigned(off);
        }
        begun.askedToLeave(within);
    }

    @Override
    public boolean revoked(byte[] signed) {
        boolean taken = believed.heard(signed);
        return (begun != null && begun.revoked(signed)) || taken;
    }

    @Override
    public void lost(String why) {
        current = null;
        if (begun != null) {
            begun.lost(why);
        }
    }

    @Override
    public void served(Name name, Optional<CloseReason> refused) {
        if (begun != null) {
            begun.served(name, refused);
        }
    }

    @Override
    public void dialled(Attachment attachment, RelayMessage.Dial dial) {
        if (begun != null) {
            begun.dialled(attachment, dial);
        } else {
            attachment.refuse(dial, CloseReason.REFUSED);
        }
    }

    @Override
    public void refused(IdentityRefused list) {
        if (begun != null) {
            begun.refused(list);
        }
    }

    @Override
    public void renewed(Instant until) {
        if (begun != null) {
            begun.renewed(until);
        }
    }

    @Override
    public void notRenewed(String why) {
        if (begun != null) {
            begun.notRenewed(why);
        }
    }
}
