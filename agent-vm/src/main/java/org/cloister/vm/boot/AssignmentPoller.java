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

    private final VmTrustStore trustStore;
    private final RoleStarter starter;
    private final Runnable off;

    private @Nullable AgentAttachStream current;
    private @Nullable AgentLinkListener role;
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
     * @param trustStore receives the assignment's project as a trust anchor before the role is started
     * @param off powers off a VM that has not started a role
     */
    public AssignmentPoller(VmTrustStore trustStore, RoleStarter starter, Runnable off) {
        this.trustStore = trustStore;
        this.starter = starter;
        this.off = off;
    }

    @Override
    public void onAttached(AgentAttachStream attachment) {
        current = attachment;
        if (role == null) {
            queryAssignment(attachment);
        } else {
            role.onAttached(attachment);
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the loop's own timer
    private void queryAssignment(AgentAttachStream attachment) {
        AssignmentQuery.ask(attachment.link()).addListener((Future<VmAssignment> answer) -> {
            if (role != null || current != attachment) {
                return;
            }
            if (answer.isSuccess()) {
                startRole(attachment, answer.getNow());
            } else if (answer.cause() instanceof AssignmentRefusedException refused
                    && refused.why() == AssignmentMessage.RefusalReason.UNKNOWN) {
                role = new UnassignedVm(off);
                role.onAttached(attachment);
            } else {
                LOG.warn("assignment: {}; retrying", answer.cause().getMessage());
                attachment.link().loop().schedule(() -> queryAgain(attachment), pauseMs, TimeUnit.MILLISECONDS);
                pauseMs = Math.min(2 * pauseMs, LONGEST_MS);
            }
        });
    }

    private void queryAgain(AgentAttachStream attachment) {
        if (role == null && current == attachment) {
            queryAssignment(attachment);
        }
    }

    private void startRole(AgentAttachStream attachment, VmAssignment assignment) {
        LOG.info("assigned name={} requester={}", assignment.name(), assignment.requester());
        trustStore.replaceAnchors(TrustAnchors.none().withProject(assignment.project()));
        role = starter.startRole(assignment);
        role.onAttached(attachment);
    }

    /**
     * Stops the VM. If it has no assignment yet, it becomes an unassigned VM, whatever its assignment would have been.
     */
    @Override
    public void onShutdownRequest(Duration within) {
        if (role == null) {
            role = new UnassignedVm(off);
        }
        role.onShutdownRequest(within);
    }

    @Override
    public boolean onRevocationList(byte[] signed) {
        boolean added = trustStore.addRevocationList(signed);
        return (role != null && role.onRevocationList(signed)) || added;
    }

    @Override
    public void onLost(String why) {
        current = null;
        if (role != null) {
            role.onLost(why);
        }
    }

    @Override
    public void onServed(CertificateName name, Optional<CloseReason> refused) {
        if (role != null) {
            role.onServed(name, refused);
        }
    }

    @Override
    public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
        if (role != null) {
            role.onDial(attachment, dial);
        } else {
            attachment.refuse(dial, CloseReason.REFUSED);
        }
    }

    @Override
    public void onListRefused(IdentityRefusedException list) {
        if (role != null) {
            role.onListRefused(list);
        }
    }

    @Override
    public void onRenewed(Instant until) {
        if (role != null) {
            role.onRenewed(until);
        }
    }

    @Override
    public void onRenewalFailed(String why) {
        if (role != null) {
            role.onRenewalFailed(why);
        }
    }
}
