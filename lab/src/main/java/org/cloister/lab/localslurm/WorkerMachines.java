package org.cloister.lab.localslurm;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.cloister.lab.ProgressLog;
import org.cloister.lab.Sandbox;
import org.cloister.vm.controller.slurm.LocalSlurm;

/** Starts and stops workers' machines, a few at a time, and reports from its own threads. */
final class WorkerMachines implements AutoCloseable {
    private static final int THREADS = 4;
    private static final int CLOSING_S = 10;

    private final ClusterSite site;
    private final NamespaceNodes spaces;
    private final ExecutorService hands = Executors.newFixedThreadPool(THREADS);

    WorkerMachines(ClusterSite site) throws IOException {
        this.site = site;
        this.spaces = new NamespaceNodes(site, site.head());
    }

    /** Receives the progress of a machine: it has joined the network, and then its slurmd runs. */
    interface BootListener {
        void joined(Duration boot, Duration tunnel);

        void up(Sandbox machine);
    }

    /** @param left by an instance that was killed while it started this */
    void boot(RequestedTicket ticket, int slot, Optional<Sandbox> left, BootListener booting, Runnable failed) {
        String node = ticket.node(slot);
        SlotPlacement placement = ticket.places().get(slot);
        WorkerFault fault = ticket.fault();
        boolean dies = fault != null && fault.kind() == WorkerFault.Kind.DIES_BOOTING && fault.number() == slot;
        work(
                () -> {
                    if (left.isPresent()) {
                        spaces.stop(left.get());
                    }
                    long from = System.nanoTime();
                    Sandbox machine = spaces.boot(node);
                    long booted = System.nanoTime();
                    if (dies) {
                        spaces.stop(machine);
                        failed.run();
                        return;
                    }
                    spaces.join(machine, placement.number());
                    long joined = System.nanoTime();
                    booting.joined(Duration.ofNanos(booted - from), Duration.ofNanos(joined - booted));
                    spaces.serve(
                            machine, placement.number(), placement.scratchMib(), slurmd(ticket.ticket(), placement));
                    booting.up(machine);
                },
                failed);
    }

    /** Stops those of the nodes that exist. */
    void stop(List<String> nodes, Runnable done, Runnable failed) {
        work(
                () -> {
                    for (Sandbox machine : Sandbox.find(site.lab())) {
                        if (nodes.contains(machine.name())) {
                            spaces.stop(machine);
                        }
                    }
                    done.run();
                },
                failed);
    }

    /** Stops the threads; unfinished starts and stops may remain incomplete. */
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

    private void work(ProgressLog.Action action, Runnable failed) {
        hands.execute(() -> {
            try {
                action.run();
            } catch (IOException | RuntimeException e) {
                System.err.println("workers: " + e);
                failed.run();
            }
        });
    }

    private static List<String> slurmd(String ticket, SlotPlacement placement) {
        return List.of(
                "-Z",
                "--conf",
                "CPUs=%d RealMemory=%d TmpDisk=%d Feature=%s"
                        .formatted(
                                placement.cpus(),
                                placement.memoryMib(),
                                placement.scratchMib(),
                                LocalSlurm.feature(ticket)));
    }
}
