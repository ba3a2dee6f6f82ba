package org.cloister.host.channel;

import io.netty.channel.EventLoop;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.cloister.protocol.channel.Forwarding;
import org.cloister.protocol.channel.PortEvents;
import org.cloister.protocol.channel.VmPort;
import org.cloister.protocol.evidence.Claim;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.LinkLimits;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One VM's channel, from when its socket is there until its VM is no more. */
@SuppressWarnings("FutureReturnValueIgnored") // the loop's own timer
final class VmChannel implements PortEvents, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(VmChannel.class);
    private static final Duration TELL_AGAIN = Duration.ofSeconds(1);

    /**
     * What all channels of a host share.
     *
     * @param writer for whatever blocks
     */
    record Shared(
            Executor writer, Evidence evidence, Assignments assignments, FirstWord firstWord, ChannelMetrics metrics) {}

    private final ChannelPlan plan;
    private final EventLoop loop;
    private final Shared shared;
    private final VmPort port;
    private final Turn turn = new Turn(LinkLimits.EVIDENCE_PAUSE.toNanos());
    private final Turn whatTurn = new Turn(LinkLimits.EVIDENCE_PAUSE.toNanos());
    /** On the loop. */
    private boolean spoke;

    private volatile boolean attached;
    private volatile boolean closed;

    /** @throws IllegalArgumentException if another channel has one of its names */
    VmChannel(ChannelPlan plan, EventLoop loop, Forwarding forwarding, Shared shared) {
        this.plan = plan;
        this.loop = loop;
        this.shared = shared;
        this.port = forwarding.open(loop, plan.socket(), plan.names(), this);
    }

    ChannelPlan plan() {
        return plan;
    }

    boolean isAttached() {
        return attached;
    }

    void leave(Duration within) {
        port.leave(within);
    }

    @Override
    public void began() {
        shared.metrics.sessions.inc();
    }

    @Override
    public void notBegun(String why) {
        if (!closed) {
            shared.metrics.openingsFailed.inc();
            LOG.debug("VM {}: {}", plan.owner().uuid(), why);
        }
    }

    @Override
    public void attached() {
        attached = true;
        if (!spoke) {
            spoke = true;
            tellFirstWord();
        }
    }

    @Override
    public void ended() {
        attached = false;
    }

    /** Until it is written down: a VM that attaches does so once, and without this word its host ends it. */
    private void tellFirstWord() {
        write(() -> {
            try {
                shared.firstWord.spoke(plan.owner());
            } catch (IOException e) {
                LOG.warn("VM {}: its first word: {}", plan.owner().uuid(), e.getMessage());
                later(this::tellFirstWord);
            }
        });
    }

    private void later(Runnable task) {
        if (!closed && !loop.isShuttingDown()) {
            loop.schedule(task, TELL_AGAIN.toMillis(), TimeUnit.MILLISECONDS);
        }
    }

    @Override
    public void cut(String why) {
        shared.metrics.cuts.inc();
        LOG.warn("VM {}: its session is ended: it {}", plan.owner().uuid(), why);
    }

    @Override
    public void refused(CloseReason why) {
        shared.metrics.requestsRefused.inc();
    }

    @Override
    public void asked(Claim claim, Consumer<EvidenceMessage.Answer> answer) {
        if (!turn.take(System.nanoTime())) {
            answer.accept(new EvidenceMessage.Refused(EvidenceMessage.Why.BUSY));
            return;
        }
        boolean taken = write(() -> {
            EvidenceMessage.Answer said = shared.evidence.vouch(plan.facts(), claim);
            turn.end(System.nanoTime());
            if (!loop.isShuttingDown()) {
                answer.accept(said);
            }
        });
        if (!taken) {
            answer.accept(new EvidenceMessage.Refused(EvidenceMessage.Why.FAILED));
        }
    }

    @Override
    public void askedWhat(Consumer<AssignmentMessage.Answer> answer) {
        if (!whatTurn.take(System.nanoTime())) {
            answer.accept(new AssignmentMessage.Refused(AssignmentMessage.Why.BUSY));
            return;
        }
        boolean taken = write(() -> {
            AssignmentMessage.Answer said = assignment();
            whatTurn.end(System.nanoTime());
            if (!loop.isShuttingDown()) {
                answer.accept(said);
            }
        });
        if (!taken) {
            answer.accept(new AssignmentMessage.Refused(AssignmentMessage.Why.FAILED));
        }
    }

    private AssignmentMessage.Answer assignment() {
        try {
            return shared.assignments
                    .of(plan.owner())
                    .<AssignmentMessage.Answer>map(told -> told)
                    .orElseGet(() -> new AssignmentMessage.Refused(AssignmentMessage.Why.UNKNOWN));
        } catch (IOException e) {
            LOG.error("VM {}: what it is: {}", plan.owner().uuid(), e.getMessage());
            return new AssignmentMessage.Refused(AssignmentMessage.Why.FAILED);
        }
    }

    /** @return false if it will not be done: everything is closed */
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

    /** The circuits and the session end at once; a statement that is being written is written. */
    @Override
    public void close() {
        closed = true;
        attached = false;
        port.close();
    }
}
