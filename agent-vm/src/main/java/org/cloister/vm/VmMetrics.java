package org.cloister.vm;

import com.codahale.metrics.Counter;
import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import com.codahale.metrics.Timer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.cloister.daemon.http.PrometheusText;
import org.cloister.vm.queue.Timings;
import org.cloister.vm.worker.Phase;
import org.cloister.vm.worker.WorkerEvent.Trouble;

/** All that agent-vm counts, docs/metrics.md. No job, user or project becomes part of a metric. */
public final class VmMetrics implements Timings {
    private static final String PREFIX = "cloister.vm.";
    private static final Pattern CODE = Pattern.compile("[a-z][a-z0-9-]{0,30}");
    /** The site's words come from outside, and each is a metric for good. */
    private static final int MAX_CODES = 32;

    private static final String OTHER = "other";

    private final MetricRegistry registry = new MetricRegistry();
    private final Map<Phase, Timer> phases = new EnumMap<>(Phase.class);
    private final Set<String> codes = new HashSet<>();
    private final AtomicInteger tickets = new AtomicInteger();
    private final AtomicInteger waiting = new AtomicInteger();
    private final Counter asked = registry.counter(PREFIX + "tickets.asked");
    private final Counter silent = registry.counter(PREFIX + "slurm.unavailable");
    private final Timer start = registry.timer(PREFIX + "start.seconds");
    private final Counter sessions = registry.counter(PREFIX + "channel.sessions");
    private final Counter losses = registry.counter(PREFIX + "channel.losses");
    private volatile double attachedSeconds;
    private volatile int attached;
    private final Timer look = registry.timer(PREFIX + "look.seconds");

    public VmMetrics() {
        for (Phase phase : Phase.values()) {
            phases.put(phase, registry.timer(PREFIX + phase + ".seconds"));
            registry.counter(failures(phase));
        }
        registry.register(PREFIX + "tickets", (Gauge<Integer>) tickets::get);
        registry.register(PREFIX + "jobs.waiting", (Gauge<Integer>) waiting::get);
        registry.register(PREFIX + "channel.attached", (Gauge<Integer>) () -> attached);
        registry.register(PREFIX + "channel.attached.seconds", (Gauge<Double>) () -> attachedSeconds);
    }

    /** @param seconds from the kernel's start until now */
    public void attached(double seconds) {
        attached = 1;
        attachedSeconds = seconds;
        sessions.inc();
    }

    /** The channel, of which {@link #attached} was said before. */
    public void lost() {
        attached = 0;
        losses.inc();
    }

    @Override
    public void asked() {
        asked.inc();
    }

    @Override
    public void started(Duration took) {
        start.update(took);
    }

    @Override
    public void failed(Phase phase) {
        registry.counter(failures(phase)).inc();
    }

    @Override
    public void failed(Trouble trouble) {
        failed(trouble.phase());
        registry.counter(PREFIX + "failures." + known(trouble.code()).replace('-', '_'))
                .inc();
    }

    @Override
    public void passed(Phase phase, Duration took) {
        Timer timer = phases.get(phase);
        if (timer != null) {
            timer.update(took);
        }
    }

    @Override
    public void looked(Duration took) {
        look.update(took);
    }

    @Override
    public void silent() {
        silent.inc();
    }

    @Override
    public void standing(int tickets, int waiting) {
        this.tickets.set(tickets);
        this.waiting.set(waiting);
    }

    /** In Prometheus' text format, UTF-8. */
    public byte[] text() {
        return PrometheusText.of(registry).getBytes(StandardCharsets.UTF_8);
    }

    private static String failures(Phase phase) {
        return PREFIX + phase + ".failures";
    }

    private synchronized String known(String code) {
        String word = code.toLowerCase(Locale.ROOT);
        if (codes.contains(word)) {
            return word;
        }
        if (!CODE.matcher(word).matches() || codes.size() >= MAX_CODES) {
            return OTHER;
        }
        codes.add(word);
        return word;
    }
}
