package org.cloister.host.channel;

import io.netty.channel.EventLoopGroup;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.cloister.transport.channel.VmForwarder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Channels of this host's VMs; each is reopened after its session ends, until it is closed. Any thread may call. A VM
 * has no thread of its own here, and nothing that it does closes the channel of another VM.
 */
public final class VmChannels implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(VmChannels.class);
    private static final int IDLE_S = 10;

    private final EventLoopGroup loops;
    private final VmForwarder forwarding;
    private final ThreadPoolExecutor writer;
    private final VmChannel.Dependencies shared;
    /** Open channels by UUID. */
    private final Map<String, VmChannel> open = new HashMap<>();

    /**
     * @param forwarding carries circuits over the host's own link
     * @param nowNs as {@link System#nanoTime}
     */
    public VmChannels(
            EventLoopGroup loops,
            VmForwarder forwarding,
            VmEvidenceIssuer evidence,
            AssignmentSource assignments,
            GuestRegistrationListener registration,
            ChannelMetrics metrics,
            LongSupplier nowNs) {
        this.loops = loops;
        this.forwarding = forwarding;
        this.writer = new ThreadPoolExecutor(1, 1, IDLE_S, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
            Thread thread = new Thread(task, "channel writer");
            thread.setDaemon(true);
            return thread;
        });
        writer.allowCoreThreadTimeOut(true);
        this.shared = new VmChannel.Dependencies(writer, evidence, assignments, registration, metrics, nowNs);
    }

    /**
     * Opens the channel of a VM that runs, or whose paused QEMU exists. A second call with the same plan has no effect.
     *
     * @throws IllegalArgumentException if another VM's channel has one of the names, or this VM's has another plan
     */
    public synchronized void open(ChannelPlan plan) {
        VmChannel before = open.get(plan.owner().uuid());
        if (before == null) {
            open.put(plan.owner().uuid(), new VmChannel(plan, loops.next(), forwarding, shared));
        } else if (!before.plan().equals(plan)) {
            throw new IllegalArgumentException(
                    "channel of VM " + plan.owner().uuid() + ": want " + before.plan() + ", have " + plan);
        }
    }

    /**
     * Asks the VM's agent to shut down, at once or as soon as it attaches. No effect if the VM has no channel or was
     * asked before.
     *
     * @param within time after which the host destroys the domain
     */
    public synchronized void requestShutdown(String uuid, Duration within) {
        VmChannel channel = open.get(uuid);
        if (channel != null) {
            channel.requestShutdown(within);
        }
    }

    /** Closes a VM's channel; no error if there is none. */
    public synchronized void close(String uuid) {
        VmChannel channel = open.remove(uuid);
        if (channel != null) {
            channel.close();
        }
    }

    /**
     * Opens and closes channels so that exactly these VMs have one, after a reconcile pass.
     *
     * @param plans of all VMs that live
     */
    public synchronized void reconcile(Collection<ChannelPlan> plans) {
        Map<String, ChannelPlan> desired =
                plans.stream().collect(Collectors.toMap(plan -> plan.owner().uuid(), Function.identity()));
        open.keySet().stream()
                .filter(uuid -> !desired.containsKey(uuid))
                .toList()
                .forEach(this::close);
        for (ChannelPlan plan : desired.values()) {
            try {
                open(plan);
            } catch (IllegalArgumentException e) {
                LOG.error(
                        "the channel of VM {} cannot be opened: {}",
                        plan.owner().uuid(),
                        e.getMessage());
            }
        }
    }

    public synchronized int count() {
        return open.size();
    }

    /** Returns the number of VMs whose agent is attached now. */
    public synchronized int countAttached() {
        return (int) open.values().stream().filter(VmChannel::isAttached).count();
    }

    /**
     * Returns for how long the VM's agent has had no session with this process; zero if it has one, or the VM has no
     * channel.
     */
    public synchronized Duration withoutSession(String uuid) {
        VmChannel channel = open.get(uuid);
        return channel == null ? Duration.ZERO : channel.withoutSession();
    }

    @Override
    public synchronized void close() {
        open.values().forEach(VmChannel::close);
        open.clear();
        writer.shutdown();
    }
}
