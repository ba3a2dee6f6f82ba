package org.cloister.lab.scenario;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.cloister.host.reconcile.ReconcileAction;
import org.cloister.host.reconcile.ReconcileLoop;
import org.cloister.host.reconcile.ReconcilePass;
import org.cloister.host.reconcile.VmBuildFailed;
import org.cloister.host.reconcile.VmLedger;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.resources.LocalHostBackend;
import org.cloister.host.resources.LocalVmStepRunner;
import org.cloister.host.resources.VmPlan;
import org.cloister.host.slurmstep.StepCgroup;
import org.cloister.host.vm.StartFailed;
import org.cloister.lab.host.AgentHostMachine;
import org.cloister.lab.host.CgroupJobStep;
import org.cloister.lab.host.HostVmPlans;

/** A host's agent, reduced to its machine, as a process in the host's namespaces that is told what to do and can be killed. */
final class HostProgram implements AutoCloseable {
    private static final int CYCLES_A_COUNT = 10;
    private static final int CHECKS = 10;

    private final KillPoints points = new KillPoints();
    private final HostVmPlans plans;
    private final AgentHostMachine agent;
    private final VmLedger ledger;
    private final ReconcileLoop loop;
    private final Semaphore ended = new Semaphore(0);

    private HostProgram(Path state, Path scratch, Path image, Path ovs, String uri, Duration powerOff)
            throws IOException {
        agent = AgentHostMachine.open(state, scratch, ovs, uri);
        plans = agent.plans(image);
        ledger = agent.ledger();
        LocalHostBackend machine = agent.local(erasure -> System.out.println("erased " + erasure.bytes()));
        loop = agent.rounds(points.of(machine), powerOff);
    }

    /**
     * Arguments: state folder, scratch folder, image, folder of Open vSwitch, libvirt's URI, how long a guest may take to
     * power off in ms, and a point to halt at, or nothing. Commands on standard input: halt POINT, build NUMBER PID,
     * register NUMBER, end NUMBER, cycles FIRST COUNT PID, count, ring; PID is of a process in the VM's step.
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        System.out.println("pid " + ProcessHandle.current().pid());
        try (HostProgram program = new HostProgram(
                        Path.of(args[0]),
                        Path.of(args[1]),
                        Path.of(args[2]),
                        Path.of(args[3]),
                        args[4],
                        Duration.ofMillis(Long.parseLong(args[5])));
                BufferedReader commands =
                        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII))) {
            program.points.haltAt(args[6]);
            program.loop.start((outcome, took) -> program.report(outcome));
            for (String line = commands.readLine(); line != null; line = commands.readLine()) {
                program.carryOut(line);
            }
        }
    }

    private void carryOut(String line) throws IOException, InterruptedException {
        String[] words = line.split(" ", -1);
        switch (words[0]) {
            case "halt" -> points.haltAt(line.substring("halt ".length()));
            case "build" -> build(Integer.parseInt(words[1]), Long.parseLong(words[2]));
            case "register" -> {
                ledger.recordStep(uuid(words[1]), VmStartStep.REGISTERED);
                System.out.println("registered");
            }
            case "end" -> stopVm(uuid(words[1]));
            case "cycles" -> cycles(Integer.parseInt(words[1]), Integer.parseInt(words[2]), Long.parseLong(words[3]));
            case "count" -> count();
            case "ring" -> loop.wake();
            default -> throw new IllegalArgumentException("command: want one of those above, have " + line);
        }
    }

    private static String uuid(String number) {
        return HostVmPlans.owner(Integer.parseInt(number), 1).uuid();
    }

    private void build(int number, long pid) throws IOException {
        StepCgroup step = StepCgroup.of(pid, CgroupJobStep.NUMBERED);
        VmPlan plan = plans.plan(number, step.job());
        long before = System.nanoTime();
        try {
            agent.building()
                    .build(
                            VmLedgerEntry.claim(
                                    plan.owner(), plan.scratchBytes().isPresent(), System.currentTimeMillis()),
                            points.of(new LocalVmStepRunner(
                                    agent.parts(), plan, HostVmPlans.assignment(plan.owner()), step)));
            System.out.println("built " + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - before));
        } catch (StartFailed | VmBuildFailed e) {
            System.out.println("failed " + e.getMessage());
            loop.wake();
        }
    }

    private void stopVm(String uuid) throws IOException {
        ledger.recordEnd(uuid, new VmTermination(VmTermination.Why.ASKED, "", System.currentTimeMillis()));
        loop.wake();
    }

    private void cycles(int first, int count, long pid) throws IOException, InterruptedException {
        for (int number = first; number < first + count; number++) {
            build(number, pid);
            ended.drainPermits();
            stopVm(uuid(Integer.toString(number)));
            while (!ledger.entries().isEmpty()) {
                ended.acquire();
            }
            if ((number - first + 1) % CYCLES_A_COUNT == 0) {
                count();
            }
        }
        System.out.println("cycled");
    }

    private void count() throws IOException {
        long files;
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            files = open.count();
        }
        int threads = ManagementFactory.getThreadMXBean().getThreadCount();
        System.out.println("counted files " + files + " threads " + threads + " heapKiB " + (leastHeap() >> 10));
    }

    /** Of several looks: the agent's own threads go on, and what they have in hand is up to 3 MiB in half of them. */
    private static long leastHeap() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < CHECKS; i++) {
            System.gc();
            least = Math.min(
                    least,
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        }
        return least;
    }

    private void report(ReconcilePass.Outcome outcome) {
        outcome.done().stream()
                .filter(ReconcileAction.RecordEnd.class::isInstance)
                .forEach(action -> System.out.println("ended " + action));
        List<VmLedgerEntry> entries = ledger.entries();
        boolean goesOn = entries.stream().allMatch(entry -> entry.end().isEmpty());
        if (outcome.isClean() && goesOn) {
            long age = System.currentTimeMillis()
                    - ManagementFactory.getRuntimeMXBean().getStartTime();
            System.out.println("settled " + entries.size() + " after " + age + " strays "
                    + outcome.orphans().size());
        } else {
            System.out.println("unsettled " + outcome + " " + entries);
        }
        ended.release();
    }

    @Override
    public void close() throws IOException {
        loop.close();
        agent.close();
    }
}
