package org.cloister.host;

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
import org.cloister.host.channel.Channels;
import org.cloister.host.ledger.Action;
import org.cloister.host.ledger.End;
import org.cloister.host.ledger.Entry;
import org.cloister.host.ledger.Round;
import org.cloister.host.ledger.Step;
import org.jspecify.annotations.Nullable;

/** All that the host counts, docs/metrics.md. No VM, project, ticket or job becomes part of a metric. From any thread. */
public final class HostMetrics {
    private static final String PREFIX = "cloister.host.";

    private final MetricRegistry registry = new MetricRegistry();
    private final Map<Step, Timer> phases = new EnumMap<>(Step.class);
    private final Map<Step, Counter> failures = new EnumMap<>(Step.class);
    private final Map<End.Why, Counter> ends = new EnumMap<>(End.Why.class);
    private final Timer start = registry.timer(PREFIX + "start.seconds");
    private final Timer round = registry.timer(PREFIX + "round.seconds");
    private final Timer drive = registry.timer(PREFIX + "drive.seconds");
    private final Counter refused = registry.counter(PREFIX + "runs.refused");
    private final Counter adopted = registry.counter(PREFIX + "vms.adopted");
    private final Counter forgotten = registry.counter(PREFIX + "vms.forgotten");
    private final Counter cutOff = registry.counter(PREFIX + "vms.cut_off");
    private final Counter reopened = registry.counter(PREFIX + "ports.reopened");
    private final ChannelMetrics channels = new ChannelMetrics(registry, PREFIX);
    private final Supplier<List<Entry>> ledger;
    private final Duration undo;
    private final InstantSource clock;

    private volatile Round.@Nullable Outcome last;

    /**
     * @param ledger what it has now
     * @param undo how long after its end nothing may be left of a VM
     */
    public HostMetrics(Supplier<List<Entry>> ledger, Duration undo, InstantSource clock) {
        this.ledger = ledger;
        this.undo = undo;
        this.clock = clock;
        for (Step step : Step.values()) {
            phases.put(step, registry.timer(PREFIX + word(step) + ".seconds"));
            failures.put(step, registry.counter(PREFIX + word(step) + ".failures"));
        }
        for (End.Why why : End.Why.values()) {
            ends.put(why, registry.counter(PREFIX + "ends." + word(why)));
        }
        gauge(
                "vms.building",
                () -> vms(entry -> entry.end().isEmpty() && entry.step().compareTo(Step.RUNNING) < 0));
        gauge("vms.silent", () -> vms(entry -> entry.end().isEmpty() && entry.step() == Step.RUNNING));
        gauge("vms.registered", () -> vms(entry -> entry.end().isEmpty() && entry.step() == Step.REGISTERED));
        gauge("vms.ending", () -> vms(entry -> entry.end().isPresent()));
        gauge("unheard", () -> of(outcome -> outcome.unheard().size()));
        gauge("troubles", () -> of(outcome -> outcome.troubles().size()));
        gauge("strays", () -> of(outcome -> outcome.strays().size()));
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
    public void show(Channels made) {
        gauge("channels", made::count);
        gauge("channels.attached", made::attached);
    }

    /** Once, when there may be some. */
    public void showDrives(Gauge<Integer> held) {
        gauge("drives", held);
    }

    /** A drive is a controlling VM's; with the time for earlier holders. */
    public void taken(Duration took) {
        drive.update(took);
    }

    /** A call of a job step was refused before anything was made. */
    public void refused() {
        refused.inc();
    }

    /** A step on a VM's way up was done. */
    public void passed(Step step, Duration took) {
        at(phases, step).update(took);
    }

    public void failed(Step step) {
        at(failures, step).inc();
    }

    /** From a job step's call until its guest runs. */
    public void started(Duration took) {
        start.update(took);
    }

    /** An end was written down, by others than a round. */
    public void ended(End.Why why) {
        at(ends, why).inc();
    }

    /** A round is over. */
    public void rounded(Round.Outcome outcome, Duration took) {
        last = outcome;
        round.update(took);
        for (Action action : outcome.done()) {
            if (action instanceof Action.Finish finish) {
                ended(finish.end().why());
            } else if (action instanceof Action.Adopt adopt) {
                adopted.inc();
                adopt.entry().end().ifPresent(end -> ended(end.why()));
            } else if (action instanceof Action.Forget) {
                forgotten.inc();
            } else if (action instanceof Action.CutOff) {
                cutOff.inc();
            } else if (action instanceof Action.Reopen) {
                reopened.inc();
            }
        }
    }

    private boolean isLate(Entry entry) {
        return entry.end()
                .filter(end -> clock.millis() - end.atMs() > undo.toMillis())
                .isPresent();
    }

    private int vms(Predicate<Entry> which) {
        return (int) ledger.get().stream().filter(which).count();
    }

    /** Before the first round nothing is known, and nothing is clean. */
    private int of(ToIntFunction<Round.Outcome> figure) {
        Round.Outcome outcome = last;
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
