package org.cloister.vm.metrics;

import com.codahale.metrics.Counter;
import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import com.codahale.metrics.Timer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.cloister.daemon.http.PrometheusText;
import org.cloister.protocol.access.AccessResponse.Refused;
import org.cloister.vm.boot.HostChannelMetrics;
import org.cloister.vm.controller.ControllerMetrics;
import org.cloister.vm.controller.ssh.SshSessionMetrics;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;
import org.cloister.vm.controller.tickets.WorkerPhase;
import org.cloister.vm.system.volume.VolumeMetrics;
import org.cloister.vm.system.volume.VolumeName;
import org.cloister.vm.worker.WorkerMetrics;

/** All metrics of agent-vm, described in docs/metrics.md. No job, user or project becomes part of a metric. */
public final class VmMetrics implements HostChannelMetrics, ControllerMetrics, VolumeMetrics, WorkerMetrics {
    private static final String PREFIX = "cloister.vm.";
    private static final Pattern CODE = Pattern.compile("[a-z][a-z0-9-]{0,30}");
    /** Bound of the site's failure codes: they come from outside, and each becomes a permanent metric. */
    private static final int MAX_CODES = 32;

    private static final String OTHER = "other";
    private static final List<String> REFUSALS =
            List.of(Refused.MEMBER, Refused.SESSIONS, Refused.RECORD, Refused.TROUBLE, SshSessionMetrics.CIRCUIT);

    private final MetricRegistry registry = new MetricRegistry();
    private final Map<WorkerPhase, Timer> phases = new EnumMap<>(WorkerPhase.class);
    private final Set<String> codes = new HashSet<>();
    private final AtomicInteger tickets = new AtomicInteger();
    private final AtomicInteger waiting = new AtomicInteger();
    private final Counter requestedTickets = registry.counter(PREFIX + "tickets.asked");
    private final Counter unavailableSlurm = registry.counter(PREFIX + "slurm.unavailable");
    private final Timer start = registry.timer(PREFIX + "start.seconds");
    private final Counter channelSessions = registry.counter(PREFIX + "channel.sessions");
    private final Counter channelLosses = registry.counter(PREFIX + "channel.losses");
    private final Counter refusedAllocations = registry.counter(PREFIX + "allocations.refused");
    private final Counter unauthenticatedPeers = registry.counter(PREFIX + "strangers");
    private final Counter lostCircuits = registry.counter(PREFIX + "circuit.losses");
    private final Counter startedSessions = registry.counter(PREFIX + "access.sessions.begun");
    private final Counter files = registry.counter(PREFIX + "access.exported.files");
    private final Counter exported = registry.counter(PREFIX + "access.exported.bytes");
    private final Map<String, Counter> refusals = new HashMap<>();
    private final AtomicInteger openSessions = new AtomicInteger();
    private volatile double attachedSeconds;
    private volatile int attached;
    private volatile int circuitOpen;
    private volatile int projectRunning;
    private volatile double projectStartSeconds;
    private final Map<VolumeName, Space> spaces = new ConcurrentHashMap<>();
    private final Timer polls = registry.timer(PREFIX + "look.seconds");

    private record Space(long bytes, long used) {
        static final Space NONE = new Space(0, 0);
    }

    public VmMetrics() {
        for (VolumeName name : VolumeName.values()) {
            registry.register(
                    PREFIX + name + ".size.bytes", (Gauge<Long>) () -> spaces.getOrDefault(name, Space.NONE).bytes);
            registry.register(
                    PREFIX + name + ".used.bytes", (Gauge<Long>) () -> spaces.getOrDefault(name, Space.NONE).used);
        }
        for (WorkerPhase phase : WorkerPhase.values()) {
            phases.put(phase, registry.timer(PREFIX + phase + ".seconds"));
            registry.counter(failures(phase));
        }
        for (String reason : REFUSALS) {
            refusals.put(reason, registry.counter(PREFIX + "access.refused." + reason));
        }
        registry.register(PREFIX + "access.sessions", (Gauge<Integer>) openSessions::get);
        registry.register(PREFIX + "tickets", (Gauge<Integer>) tickets::get);
        registry.register(PREFIX + "jobs.waiting", (Gauge<Integer>) waiting::get);
        registry.register(PREFIX + "channel.attached", (Gauge<Integer>) () -> attached);
        registry.register(PREFIX + "project.working", (Gauge<Integer>) () -> projectRunning);
        registry.register(PREFIX + "project.begin.seconds", (Gauge<Double>) () -> projectStartSeconds);
        registry.register(PREFIX + "channel.attached.seconds", (Gauge<Double>) () -> attachedSeconds);
        registry.register(PREFIX + "circuit.open", (Gauge<Integer>) () -> circuitOpen);
    }

    @Override
    public void channelAttached(double seconds) {
        attached = 1;
        attachedSeconds = seconds;
        channelSessions.inc();
    }

    @Override
    public void projectStarted(Duration startup) {
        projectRunning = 1;
        projectStartSeconds = startup.toMillis() / 1000.0;
    }

    @Override
    public void setVolumeUsage(VolumeName name, long bytes, long used) {
        spaces.put(name, new Space(bytes, used));
    }

    @Override
    public void projectStopped() {
        projectRunning = 0;
    }

    @Override
    public void channelLost() {
        attached = 0;
        channelLosses.inc();
    }

    @Override
    public void sessionStarted() {
        startedSessions.inc();
        openSessions.incrementAndGet();
    }

    @Override
    public void sessionEnded() {
        openSessions.decrementAndGet();
    }

    @Override
    public void sessionRefused(String reason) {
        Counter counter = refusals.get(reason);
        if (counter == null) {
            throw new IllegalArgumentException("refusal of a session: want one of " + REFUSALS + ", have " + reason);
        }
        counter.inc();
    }

    @Override
    public void fileExported(long bytes) {
        files.inc();
        exported.inc(bytes);
    }

    @Override
    public void setCircuitOpen(boolean isOpen) {
        if (circuitOpen == 1 && !isOpen) {
            lostCircuits.inc();
        }
        circuitOpen = isOpen ? 1 : 0;
    }

    @Override
    public void allocationRefused() {
        refusedAllocations.inc();
    }

    @Override
    public void unauthenticatedPeer() {
        unauthenticatedPeers.inc();
    }

    @Override
    public void ticketRequested() {
        requestedTickets.inc();
    }

    @Override
    public void jobStarted(Duration duration) {
        start.update(duration);
    }

    @Override
    public void attemptFailed(WorkerPhase phase) {
        registry.counter(failures(phase)).inc();
    }

    @Override
    public void attemptFailed(EndReason reason) {
        attemptFailed(reason.phase());
        registry.counter(PREFIX + "failures." + boundedCode(reason.code()).replace('-', '_'))
                .inc();
    }

    @Override
    public void phasePassed(WorkerPhase phase, Duration duration) {
        Timer timer = phases.get(phase);
        if (timer != null) {
            timer.update(duration);
        }
    }

    @Override
    public void slurmPolled(Duration duration) {
        polls.update(duration);
    }

    @Override
    public void slurmUnavailable() {
        unavailableSlurm.inc();
    }

    @Override
    public void rpcsRefused(String name, long count) {
        registry.counter(PREFIX + "slurm.refused." + name).inc(count);
    }

    @Override
    public void setQueueState(int tickets, int waiting) {
        this.tickets.set(tickets);
        this.waiting.set(waiting);
    }

    /** Returns all metrics in Prometheus' text format, UTF-8. */
    public byte[] text() {
        return PrometheusText.of(registry).getBytes(StandardCharsets.UTF_8);
    }

    private static String failures(WorkerPhase phase) {
        return PREFIX + phase + ".failures";
    }

    private synchronized String boundedCode(String code) {
        String reason = code.toLowerCase(Locale.ROOT);
        if (codes.contains(reason)) {
            return reason;
        }
        if (!CODE.matcher(reason).matches() || codes.size() >= MAX_CODES) {
            return OTHER;
        }
        codes.add(reason);
        return reason;
    }
}
