package org.cloister.vm.boot;

import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.handover.AssignmentRefusedException;
import org.cloister.protocol.handover.VmAssignment;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.channel.AssignmentQuery;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLinkListener;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the host for this VM's assignment until the host answers, then starts the assigned role and forwards all further
 * events of the channel to it. All calls run on the channel's event loop.
 */
public final class AssignmentPoller implements AgentLinkListener {
    private static final Logger LOG = LoggerFactory.getLogger(AssignmentPoller.class);
    private static final long FIRST_MS = 1000;
    private static final long LONGEST_MS = 30_000;

    private final VmTrustStore believed;
    private final RoleStarter assigned;
    private final Runnable off;

    private @Nullable AgentAttachStream current;
    private @Nullable AgentLinkListener begun;
    private long pauseMs = FIRST_MS;

    /** Starts the role that the VM is assigned. */
    @FunctionalInterface
    public interface RoleStarter {
        /**
         * Starts the role.
         *
         * @return the listener that receives the channel's events, from its present attachment on
         */
        AgentLinkListener startRole(VmAssignment assignment);
    }

    /**
     * Creates the poller.
     *
     * @param believed receives the assignment's project as a trust anchor before the role is started
     * @param off powers off a VM that has not started a role
     */
    public AssignmentPoller(VmTrustStore believed, RoleStarter assigned, Runnable off) {
        this.believed = believed;
        this.assigned = assigned;
        this.off = off;
    }

    @Override
    public void onAttached(AgentAttachStream attachment) {
        current = attachment;
        if (begun == null) {
            ask(attachment);
        } else {
            begun.onAttached(attachment);
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the loop's own timer
    private void ask(AgentAttachStream attachment) {
        AssignmentQuery.ask(attachment.link()).addListener((Future<VmAssignment> answer) -> {
            if (begun != null || current != attachment) {
                return;
            }
            if (answer.isSuccess()) {
                begin(attachment, answer.getNow());
            } else if (answer.cause() instanceof AssignmentRefusedException none
                    && none.why() == AssignmentMessage.RefusalReason.UNKNOWN) {
                begun = new UnassignedVm(off);
                begun.onAttached(attachment);
            } else {
                LOG.warn("assignment: {}; asked for again", answer.cause().getMessage());
                attachment.link().loop().schedule(() -> again(attachment), pauseMs, TimeUnit.MILLISECONDS);
                pauseMs = Math.min(2 * pauseMs, LONGEST_MS);
            }
        });
    }

    private void again(AgentAttachStream attachment) {
        if (begun == null && current == attachment) {
            ask(attachment);
        }
    }

    private void begin(AgentAttachStream attachment, VmAssignment assignment) {
        LOG.info("this VM is {}, asked for by {}", assignment.name(), assignment.requester());
        believed.replaceAnchors(TrustAnchors.none().withProject(assignment.project()));
        begun = assigned.startRole(assignment);
        begun.onAttached(attachment);
    }

    /**
     * Stops the VM. If it has no assignment yet, it becomes an unassigned VM, whatever its assignment would have been.
     */
    @Override
    public void onShutdownRequest(Duration within) {
        if (begun == null) {
            begun = new UnassignedVm(off);
        }
        begun.onShutdownRequest(within);
    }

    @Override
    public boolean onRevocationList(byte[] signed) {
        boolean taken = believed.addRevocationList(signed);
        return (begun != null && begun.onRevocationList(signed)) || taken;
    }

    @Override
    public void onLost(String why) {
        current = null;
        if (begun != null) {
            begun.onLost(why);
        }
    }

    @Override
    public void onServed(CertificateName name, Optional<CloseReason> refused) {
        if (begun != null) {
            begun.onServed(name, refused);
        }
    }

    @Override
    public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
        if (begun != null) {
            begun.onDial(attachment, dial);
        } else {
            attachment.refuse(dial, CloseReason.REFUSED);
        }
    }

    @Override
    public void onListRefused(IdentityRefusedException list) {
        if (begun != null) {
            begun.onListRefused(list);
        }
    }

    @Override
    public void onRenewed(Instant until) {
        if (begun != null) {
            begun.onRenewed(until);
        }
    }

    @Override
    public void onRenewalFailed(String why) {
        if (begun != null) {
            begun.onRenewalFailed(why);
        }
    }
}
