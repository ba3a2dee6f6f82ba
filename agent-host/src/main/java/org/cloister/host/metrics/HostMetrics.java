package org.cloister.host.metrics;

import com.codahale.metrics.Counter;
import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import com.codahale.metrics.Timer;
import com.codahale.metrics.jvm.MemoryUsageGaugeSet;
import com.codahale.metrics.jvm.ThreadStatesGaugeSet;
import java.time.Duration;
import java.time.InstantSource;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.cloister.host.channel.ChannelMetrics;
import org.cloister.host.channel.VmChannels;
import org.cloister.host.reconcile.ReconcileAction;
import org.cloister.host.reconcile.ReconcilePass;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.reconcile.VmTermination;
import org.jspecify.annotations.Nullable;

/** Metrics of the host, docs/metrics.md. No label contains a VM, project, ticket or job. Any thread may call. */
public final class HostMetrics {
    private static final String PREFIX = "cloister.host.";

    private final MetricRegistry registry = new MetricRegistry();
    private final Map<VmStartStep, Timer> phases = new EnumMap<>(VmStartStep.class);
    private final Map<VmStartStep, Counter> failures = new EnumMap<>(VmStartStep.class);
    private final Map<VmTermination.Why, Counter> ends = new EnumMap<>(VmTermination.Why.class);
    private final Timer start = registry.timer(PREFIX + "start.seconds");
    private final Timer passTimer = registry.timer(PREFIX + "round.seconds");
    private final Timer drive = registry.timer(PREFIX + "drive.seconds");
    private final Counter refused = registry.counter(PREFIX + "runs.refused");
    private final Counter adopted = registry.counter(PREFIX + "vms.adopted");
    private final Counter forgotten = registry.counter(PREFIX + "vms.forgotten");
    private final Counter cutOff = registry.counter(PREFIX + "vms.cut_off");
    private final Counter reopened = registry.counter(PREFIX + "ports.reopened");
    private final ChannelMetrics channels = new ChannelMetrics(registry, PREFIX);
    private final Supplier<List<VmLedgerEntry>> ledger;
    private final Duration leakGrace;
    private final InstantSource clock;

    private volatile ReconcilePass.@Nullable Outcome last;

    /**
     * @param ledger supplies the current entries
     * @param leakGrace time after its end within which a VM's resources must all be gone
     */
    public HostMetrics(Supplier<List<VmLedgerEntry>> ledger, Duration leakGrace, InstantSource clock) {
        this.ledger = ledger;
        this.leakGrace = leakGrace;
        this.clock = clock;
        for (VmStartStep step : VmStartStep.values()) {
            phases.put(step, registry.timer(PREFIX + label(step) + ".seconds"));
            failures.put(step, registry.counter(PREFIX + label(step) + ".failures"));
        }
        for (VmTermination.Why why : VmTermination.Why.values()) {
            ends.put(why, registry.counter(PREFIX + "ends." + label(why)));
        }
        gauge(
                "vms.building",
                () -> vms(entry -> entry.end().isEmpty() && entry.step().compareTo(VmStartStep.RUNNING) < 0));
        gauge("vms.silent", () -> vms(entry -> entry.end().isEmpty() && entry.step() == VmStartStep.RUNNING));
        gauge("vms.registered", () -> vms(entry -> entry.end().isEmpty() && entry.step() == VmStartStep.REGISTERED));
        gauge("vms.ending", () -> vms(entry -> entry.end().isPresent()));
        gauge("unheard", () -> of(outcome -> outcome.neverAnswered().size()));
        gauge("troubles", () -> of(outcome -> outcome.problems().size()));
        gauge("strays", () -> of(outcome -> outcome.orphans().size()));
        gauge("clean", () -> of(outcome -> outcome.isClean() ? 1 : 0));
        gauge("leaks", () -> vms(this::isLate));
        registry.registerAll("jvm.memory", new MemoryUsageGaugeSet());
        registry.registerAll("jvm.threads", new ThreadStatesGaugeSet());
    }

    public MetricRegistry registry() {
        return registry;
    }

    /** Returns the counters of channels. */
    public ChannelMetrics channels() {
        return channels;
    }

    /** Registers the gauges of channels; called once. */
    public void registerChannels(VmChannels channels) {
        gauge("channels", channels::count);
        gauge("channels.attached", channels::countAttached);
    }

    /** Registers the gauge of drives; called once, on a host that may run controlling VMs. */
    public void registerDrives(Gauge<Integer> held) {
        gauge("drives", held);
    }

    /**
     * Records that a controlling VM acquired its drive.
     *
     * @param took including the wait for earlier holders
     */
    public void recordDriveAcquired(Duration took) {
        drive.update(took);
    }

    /** Records a request of a job step that was refused before anything was created. */
    public void recordRefusal() {
        refused.inc();
    }

    /** Records a completed start step of a VM. */
    public void recordStep(VmStartStep step, Duration took) {
        at(phases, step).update(took);
    }

    public void recordStepFailure(VmStartStep step) {
        at(failures, step).inc();
    }

    /**
     * Records a start.
     *
     * @param took from the job step's request until its guest runs
     */
    public void recordStart(Duration took) {
        start.update(took);
    }

    /** Records an end that a caller other than a reconcile pass wrote. */
    public void recordEnd(VmTermination.Why why) {
        at(ends, why).inc();
    }

    /** Records a reconcile pass. */
    public void recordPass(ReconcilePass.Outcome outcome, Duration took) {
        last = outcome;
        passTimer.update(took);
        for (ReconcileAction action : outcome.done()) {
            if (action instanceof ReconcileAction.RecordEnd finish) {
                recordEnd(finish.end().why());
            } else if (action instanceof ReconcileAction.Adopt adopt) {
                adopted.inc();
                adopt.entry().end().ifPresent(end -> recordEnd(end.why()));
            } else if (action instanceof ReconcileAction.ForgetVm) {
                forgotten.inc();
            } else if (action instanceof ReconcileAction.DestroyDomain) {
                cutOff.inc();
            } else if (action instanceof ReconcileAction.RestorePort) {
                reopened.inc();
            }
        }
    }

    private boolean isLate(VmLedgerEntry entry) {
        return entry.end()
                .filter(end -> clock.millis() - end.atMs() > leakGrace.toMillis())
                .isPresent();
    }

    private int vms(Predicate<VmLedgerEntry> which) {
        return (int) ledger.get().stream().filter(which).count();
    }

    /** Returns a figure of the last pass; 0 before the first one, when nothing is known and nothing counts as clean. */
    private int of(ToIntFunction<ReconcilePass.Outcome> figure) {
        ReconcilePass.Outcome outcome = last;
        return outcome == null ? 0 : figure.applyAsInt(outcome);
    }

    private void gauge(String name, Gauge<Integer> gauge) {
        registry.register(PREFIX + name, gauge);
    }

    private static <K, V> V at(Map<K, V> map, K key) {
        V value = map.get(key);
        if (value == null) {
            throw new IllegalStateException(key + ": want a metric of its own, have none");
        }
        return value;
    }

    private static String label(Enum<?> each) {
        return each.name().toLowerCase(Locale.ROOT);
    }
}
