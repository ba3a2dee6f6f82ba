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

/** All that the host counts, docs/metrics.md. No VM, project, ticket or job becomes part of a metric. From any thread. */
public final class HostMetrics {
    private static final String PREFIX = "cloister.host.";

    private final MetricRegistry registry = new MetricRegistry();
    private final Map<VmStartStep, Timer> phases = new EnumMap<>(VmStartStep.class);
    private final Map<VmStartStep, Counter> failures = new EnumMap<>(VmStartStep.class);
    private final Map<VmTermination.Why, Counter> ends = new EnumMap<>(VmTermination.Why.class);
    private final Timer start = registry.timer(PREFIX + "start.seconds");
    private final Timer round = registry.timer(PREFIX + "round.seconds");
    private final Timer drive = registry.timer(PREFIX + "drive.seconds");
    private final Counter refused = registry.counter(PREFIX + "runs.refused");
    private final Counter adopted = registry.counter(PREFIX + "vms.adopted");
    private final Counter forgotten = registry.counter(PREFIX + "vms.forgotten");
    private final Counter cutOff = registry.counter(PREFIX + "vms.cut_off");
    private final Counter reopened = registry.counter(PREFIX + "ports.reopened");
    private final ChannelMetrics channels = new ChannelMetrics(registry, PREFIX);
    private final Supplier<List<VmLedgerEntry>> ledger;
    private final Duration undo;
    private final InstantSource clock;

    private volatile ReconcilePass.@Nullable Outcome last;

    /**
     * @param ledger what it has now
     * @param undo how long after its end nothing may be left of a VM
     */
    public HostMetrics(Supplier<List<VmLedgerEntry>> ledger, Duration undo, InstantSource clock) {
        this.ledger = ledger;
        this.undo = undo;
        this.clock = clock;
        for (VmStartStep step : VmStartStep.values()) {
            phases.put(step, registry.timer(PREFIX + word(step) + ".seconds"));
            failures.put(step, registry.counter(PREFIX + word(step) + ".failures"));
        }
        for (VmTermination.Why why : VmTermination.Why.values()) {
            ends.put(why, registry.counter(PREFIX + "ends." + word(why)));
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

    /** For those who make the channels. */
    public ChannelMetrics channels() {
        return channels;
    }

    /** Once, when they are made. */
    public void registerChannels(VmChannels made) {
        gauge("channels", made::count);
        gauge("channels.attached", made::countAttached);
    }

    /** Once, when there may be some. */
    public void registerDrives(Gauge<Integer> held) {
        gauge("drives", held);
    }

    /** A drive is a controlling VM's; with the time for earlier holders. */
    public void recordDriveAcquired(Duration took) {
        drive.update(took);
    }

    /** A call of a job step was refused before anything was made. */
    public void recordRefusal() {
        refused.inc();
    }

    /** A step on a VM's way up was done. */
    public void recordStep(VmStartStep step, Duration took) {
        at(phases, step).update(took);
    }

    public void recordStepFailure(VmStartStep step) {
        at(failures, step).inc();
    }

    /** From a job step's call until its guest runs. */
    public void recordStart(Duration took) {
        start.update(took);
    }

    /** An end was written down, by others than a round. */
    public void recordEnd(VmTermination.Why why) {
        at(ends, why).inc();
    }

    /** A round is over. */
    public void recordPass(ReconcilePass.Outcome outcome, Duration took) {
        last = outcome;
        round.update(took);
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
                .filter(end -> clock.millis() - end.atMs() > undo.toMillis())
                .isPresent();
    }

    private int vms(Predicate<VmLedgerEntry> which) {
        return (int) ledger.get().stream().filter(which).count();
    }

    /** Before the first round nothing is known, and nothing is clean. */
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

    private static String word(Enum<?> each) {
        return each.name().toLowerCase(Locale.ROOT);
    }
}
