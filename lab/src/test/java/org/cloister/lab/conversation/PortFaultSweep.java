package org.cloister.lab.conversation;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.cloister.transport.channel.PortFault;
import org.cloister.transport.channel.PortFault.From;
import org.cloister.transport.channel.PortFault.Kind;
import org.cloister.transport.channel.PortFault.Position;
import org.cloister.transport.channel.PortWire;

/**
 * Lives of VMs and their hosts, each with a sound pipe once, and then anew with each fault that its frames can meet, some at a
 * time. {@code -Dcloister.sweep.all=true} leaves none out; otherwise some of each life are drawn, and {@code -Dcloister.seed}
 * repeats.
 */
@SuppressWarnings("NullAway") // what is missing shows as a failed test
final class PortFaultSweep {
    private static final int AT_ONCE = 10;
    private static final int SAMPLE = 6;

    private final Path folder;
    private final Random random;
    private final boolean whole;
    private final AtomicInteger runs = new AtomicInteger();
    private final List<String> failures = new ArrayList<>();

    /** Run of a VM from start to end, in a separate folder; fails unless both ends agree. */
    interface Scenario {
        void live(Path folder, PortWire wire) throws Exception;
    }

    /**
     * A scenario and its faults.
     *
     * @param kinds faults that happen at each frame
     * @param alone frames that a run without faults has, each of which is lost once while the connection stays
     */
    record FaultPlan(String name, Scenario scenario, List<Kind> kinds, List<Position> alone) {
        private List<PortFault> faults(List<Position> places) {
            assertThat(places)
                    .as(name)
                    .containsAll(alone)
                    .extracting(Position::from)
                    .contains(From.values());
            // Sorted, for a seed to repeat whichever side was faster.
            return PortFault.all(places, kinds).stream()
                    .sorted(Comparator.comparing(PortFault::toString))
                    .toList();
        }
    }

    PortFaultSweep(Path folder) {
        this.folder = folder;
        this.whole = Boolean.getBoolean("cloister.sweep.all");
        String property = System.getProperty("cloister.seed", "");
        long seed = property.isEmpty() ? ThreadLocalRandom.current().nextLong() : Long.parseLong(property);
        this.random = new Random(seed);
        System.out.println("channels: CLOISTER_SEED=" + seed);
    }

    void run(List<FaultPlan> courses) throws Exception {
        ExecutorService some = Executors.newFixedThreadPool(AT_ONCE);
        try {
            Map<FaultPlan, Future<PortWire>> sound = new LinkedHashMap<>();
            Map<FaultPlan, List<Future<PortWire>>> broken = new LinkedHashMap<>();
            for (FaultPlan each : courses) {
                sound.put(each, some.submit(() -> run(each, Optional.empty())));
                // These wait longest.
                broken.put(
                        each,
                        new ArrayList<>(each.alone.stream()
                                .map(position ->
                                        some.submit(() -> run(each, Optional.of(new PortFault(position, Kind.LOST)))))
                                .toList()));
            }
            for (FaultPlan each : courses) {
                List<PortFault> all = each.faults(sound.get(each).get().places());
                List<PortFault> drawn = drawn(all);
                System.out.println("channel of a " + each.name + ": " + drawn.size() + " of " + all.size() + " faults");
                drawn.forEach(fault -> broken.get(each).add(some.submit(() -> run(each, Optional.of(fault)))));
            }
            for (Map.Entry<FaultPlan, List<Future<PortWire>>> each : broken.entrySet()) {
                int happened = happened(each.getValue());
                // The last frames of a sound life may not come in another, and two that came may come as one.
                assertThat(happened)
                        .as("faults of a %s that happened", each.getKey().name)
                        .isGreaterThanOrEqualTo(each.getValue().size() * 3 / 4);
            }
        } finally {
            some.shutdownNow();
        }
        assertThat(failures).isEmpty();
    }

    private int happened(List<Future<PortWire>> cases) throws InterruptedException {
        int happened = 0;
        for (Future<PortWire> each : cases) {
            try {
                happened += each.get().happened() ? 1 : 0;
            } catch (ExecutionException e) {
                failures.add(String.valueOf(e.getCause()));
                happened++;
            }
        }
        return happened;
    }

    private List<PortFault> drawn(List<PortFault> all) {
        if (whole || all.size() <= SAMPLE) {
            return all;
        }
        List<PortFault> drawn = new ArrayList<>(all);
        Collections.shuffle(drawn, random);
        return drawn.subList(0, SAMPLE);
    }

    private PortWire run(FaultPlan plan, Optional<PortFault> fault) throws Exception {
        PortWire wire = new PortWire(fault);
        try {
            plan.scenario.live(Files.createDirectory(folder.resolve(Integer.toString(runs.getAndIncrement()))), wire);
            return wire;
        } catch (Exception | AssertionError e) {
            throw new AssertionError(
                    plan.name + ": " + fault.map(PortFault::toString).orElse("no fault") + ": " + e, e);
        }
    }
}
