package org.cloister.lab.local;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.cloister.lab.Sandbox;
import org.cloister.lab.Steps;
import org.cloister.vm.slurm.LocalSlurm;

/** Starts and ends workers' machines, a few at a time, and tells of it from its own threads. */
final class WorkerMachines implements AutoCloseable {
    private static final int THREADS = 4;
    private static final int CLOSING_S = 10;

    private final Site site;
    private final NodeSpace spaces;
    private final ExecutorService hands = Executors.newFixedThreadPool(THREADS);

    WorkerMachines(Site site) throws IOException {
        this.site = site;
        this.spaces = new NodeSpace(site, site.head());
    }

    /** Hears of a machine that has its place in the network, and then that its slurmd runs. */
    interface Booting {
        void joined(Duration boot, Duration tunnel);

        void up(Sandbox machine);
    }

    /** @param left by an asker that was killed while it started this */
    void boot(Booked booked, int slot, Optional<Sandbox> left, Booting booting, Runnable failed) {
        String node = booked.node(slot);
        Place place = booked.places().get(slot);
        Fault fault = booked.fault();
        boolean dies = fault != null && fault.kind() == Fault.Kind.DIES_BOOTING && fault.number() == slot;
        work(
                () -> {
                    if (left.isPresent()) {
                        spaces.end(left.get());
                    }
                    long from = System.nanoTime();
                    Sandbox machine = spaces.boot(node);
                    long booted = System.nanoTime();
                    if (dies) {
                        spaces.end(machine);
                        failed.run();
                        return;
                    }
                    spaces.join(machine, place.number());
                    long joined = System.nanoTime();
                    booting.joined(Duration.ofNanos(booted - from), Duration.ofNanos(joined - booted));
                    spaces.serve(machine, place.number(), place.scratchMib(), slurmd(booked.ticket(), place));
                    booting.up(machine);
                },
                failed);
    }

    /** Of these nodes, those that there are. */
    void end(List<String> nodes, Runnable done, Runnable failed) {
        work(
                () -> {
                    for (Sandbox machine : Sandbox.find(site.lab())) {
                        if (nodes.contains(machine.name())) {
                            spaces.end(machine);
                        }
                    }
                    done.run();
                },
                failed);
    }

    /** What was begun may stay half done. */
    @Override
    public void close() throws IOException {
        hands.shutdownNow();
        try {
            if (!hands.awaitTermination(CLOSING_S, TimeUnit.SECONDS)) {
                throw new IOException("workers: machines were not started or ended within " + CLOSING_S + " s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void work(Steps.Act act, Runnable failed) {
        hands.execute(() -> {
            try {
                act.run();
            } catch (IOException | RuntimeException e) {
                System.err.println("workers: " + e);
                failed.run();
            }
        });
    }

    private static List<String> slurmd(String ticket, Place place) {
        return List.of(
                "-Z",
                "--conf",
                "CPUs=%d RealMemory=%d TmpDisk=%d Feature=%s"
                        .formatted(place.cpus(), place.memoryMib(), place.scratchMib(), LocalSlurm.feature(ticket)));
    }
}
