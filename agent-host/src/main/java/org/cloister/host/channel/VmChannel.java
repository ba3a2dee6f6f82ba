package org.cloister.host.channel;

import io.netty.channel.EventLoop;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.evidence.AttestationClaims;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.transport.channel.VmForwarder;
import org.cloister.transport.channel.VmPort;
import org.cloister.transport.channel.VmPortListener;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Channel of one VM, kept from the creation of its socket until the VM is gone. */
@SuppressWarnings("FutureReturnValueIgnored") // Schedules on the event loop's own timer.
final class VmChannel implements VmPortListener, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(VmChannel.class);
    private static final Duration REGISTRATION_RETRY = Duration.ofSeconds(1);

    /**
     * Objects that all channels of a host share.
     *
     * @param writer executes work that blocks
     * @param nowNs as {@link System#nanoTime}
     */
    record Dependencies(
            Executor writer,
            VmEvidenceIssuer evidence,
            AssignmentSource assignments,
            GuestRegistrationListener registrationListener,
            ChannelMetrics metrics,
            LongSupplier nowNs) {}

    private final ChannelPlan plan;
    private final EventLoop loop;
    private final Dependencies shared;
    private final VmPort port;
    private final RequestThrottle evidenceThrottle = new RequestThrottle(ProtocolLimits.EVIDENCE_PAUSE.toNanos());
    private final RequestThrottle assignmentThrottle = new RequestThrottle(ProtocolLimits.EVIDENCE_PAUSE.toNanos());
    /** Set once the guest has registered; used on the event loop only. */
    private boolean registered;

    /**
     * Time at which the agent's last session ended or this channel was opened; null while the agent is attached. After
     * the constructor it is written on the event loop only.
     */
    private volatile @Nullable Long detachedNs;

    private volatile boolean closed;

    /** @throws IllegalArgumentException if another channel has one of its names */
    VmChannel(ChannelPlan plan, EventLoop loop, VmForwarder forwarding, Dependencies shared) {
        this.plan = plan;
        this.loop = loop;
        this.shared = shared;
        this.detachedNs = shared.nowNs.getAsLong();
        this.port = forwarding.open(loop, plan.socket(), plan.names(), this);
    }

    ChannelPlan plan() {
        return plan;
    }

    boolean isAttached() {
        return detachedNs == null;
    }

    /** Returns for how long the agent has had no session; zero while it is attached. */
    Duration withoutSession() {
        Long sinceNs = detachedNs;
        return sinceNs == null ? Duration.ZERO : Duration.ofNanos(shared.nowNs.getAsLong() - sinceNs);
    }

    void requestShutdown(Duration within) {
        port.requestShutdown(within);
    }

    @Override
    public void onSessionOpened() {
        shared.metrics.sessions.inc();
    }

    @Override
    public void onSessionFailed(String why) {
        if (!closed) {
            shared.metrics.openingsFailed.inc();
            LOG.debug("VM {}: {}", plan.owner().uuid(), why);
        }
    }

    @Override
    public void onAttached() {
        detachedNs = null;
        if (!registered) {
            registered = true;
            recordRegistration();
        }
    }

    @Override
    public void onSessionClosed() {
        // A session in which the agent did not attach leaves the time as it is.
        if (isAttached()) {
            detachedNs = shared.nowNs.getAsLong();
        }
    }

    /**
     * Reports the guest's registration and retries until it is persisted: a VM attaches once, and the host stops a VM
     * whose registration it does not have.
     */
    private void recordRegistration() {
        write(() -> {
            try {
                shared.registrationListener.onRegistered(plan.owner());
            } catch (IOException e) {
                LOG.warn(
                        "the registration of VM {} cannot be recorded and is retried: {}",
                        plan.owner().uuid(),
                        e.getMessage());
                schedule(this::recordRegistration);
            }
        });
    }

    private void schedule(Runnable task) {
        if (!closed && !loop.isShuttingDown()) {
            loop.schedule(task, REGISTRATION_RETRY.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    @Override
    public void onSessionCut(String why) {
        shared.metrics.cuts.inc();
        LOG.warn("closing the channel session of VM {}: the VM {}", plan.owner().uuid(), why);
    }

    @Override
    public void onRequestRefused(CloseReason why) {
        shared.metrics.requestsRefused.inc();
    }

    @Override
    public void onEvidenceRequest(AttestationClaims claim, Consumer<EvidenceMessage.Response> answer) {
        if (!evidenceThrottle.tryAcquire(System.nanoTime())) {
            answer.accept(new EvidenceMessage.Refused(EvidenceMessage.RefusalReason.BUSY));
            return;
        }
        boolean accepted = write(() -> {
            EvidenceMessage.Response response = shared.evidence.issue(plan.facts(), claim);
            evidenceThrottle.release(System.nanoTime());
            if (!loop.isShuttingDown()) {
                answer.accept(response);
            }
        });
        if (!accepted) {
            answer.accept(new EvidenceMessage.Refused(EvidenceMessage.RefusalReason.FAILED));
        }
    }

    @Override
    public void onAssignmentRequest(Consumer<AssignmentMessage.Response> answer) {
        if (!assignmentThrottle.tryAcquire(System.nanoTime())) {
            answer.accept(new AssignmentMessage.Refused(AssignmentMessage.RefusalReason.BUSY));
            return;
        }
        boolean accepted = write(() -> {
            AssignmentMessage.Response response = assignment();
            assignmentThrottle.release(System.nanoTime());
            if (!loop.isShuttingDown()) {
                answer.accept(response);
            }
        });
        if (!accepted) {
            answer.accept(new AssignmentMessage.Refused(AssignmentMessage.RefusalReason.FAILED));
        }
    }

    private AssignmentMessage.Response assignment() {
        try {
            return shared.assignments
                    .of(plan.owner())
                    .<AssignmentMessage.Response>map(assigned -> assigned)
                    .orElseGet(() -> new AssignmentMessage.Refused(AssignmentMessage.RefusalReason.UNKNOWN));
        } catch (IOException e) {
            LOG.error("the assignment of VM {} cannot be read: {}", plan.owner().uuid(), e.getMessage());
            return new AssignmentMessage.Refused(AssignmentMessage.RefusalReason.FAILED);
        }
    }

    /**
     * Submits a task to the writer.
     *
     * @return false if the channel is closed and the task will not run
     */
    private boolean write(Runnable task) {
        if (closed) {
            return false;
        }
        try {
            shared.writer.execute(() -> {
                if (!closed) {
                    task.run();
                }
            });
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }

    /** Closes the circuits and the session at once; an evidence statement that is being written is completed. */
    @Override
    public void close() {
        closed = true;
        port.close();
    }
}
