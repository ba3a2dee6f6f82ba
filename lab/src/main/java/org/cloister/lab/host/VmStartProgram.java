package org.cloister.lab.host;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.cloister.base.encoding.Digest;
import org.cloister.host.domain.DirectKernelBoot;
import org.cloister.host.domain.DomainDisk;
import org.cloister.host.domain.DomainSpec;
import org.cloister.host.domain.DomainXml;
import org.cloister.host.plan.GuestImages;
import org.cloister.host.receipts.HostStatements;
import org.cloister.host.receipts.StatementRecordingBackend;
import org.cloister.host.receipts.StatementStepRunner;
import org.cloister.host.reconcile.ReconcileLoop;
import org.cloister.host.reconcile.ReconcilePass;
import org.cloister.host.reconcile.VmBuildFailed;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.resources.LocalVmStepRunner;
import org.cloister.host.resources.VmPlan;
import org.cloister.host.slurmstep.StepCgroup;
import org.cloister.host.vm.StartFailed;
import org.cloister.lab.LabException;
import org.cloister.lab.Poll;
import org.cloister.protocol.dsse.SigningKey;

/**
 * Program in a host's namespaces: {@code STATE SCRATCH IMAGES OVS URI BARE-FOLDER TAP PID ROUNDS WIRE-UPS}. Starts the
 * same VM alternately with agent-host's parts, with libvirt alone and with QEMU alone, up to its kernel's first byte on
 * the serial console, then connects many VMs at once; prints {@code METRIC SECONDS} for each round. PID is of a process
 * in the VMs' step.
 */
public final class VmStartProgram {
    /** First number of the VMs, above all numbers of scenarios. */
    private static final int FIRST = 20_000;

    private static final int BARE = 30_000;
    private static final int WIRED = 31_000;
    private static final int WIRE_UPS = 50;
    private static final int WARM = 3;
    private static final Duration LIMIT = Duration.ofSeconds(60);
    /** Makes the decompressor of Linux, its first program, print a line; the rest of the guest is unchanged. */
    private static final String EARLY = " earlyprintk=serial,ttyS0,115200 console=ttyS0";

    private static final String DOMAIN = "bare";

    private final AgentHostMachine agent;
    private final GuestImages images;
    private final HostVmPlans plans;
    private final Path bare;
    private final String tap;
    private final long pid;
    private final HostStatements receipts;
    private final ReconcileLoop loop;
    private final Semaphore rounded = new Semaphore(0);

    private VmStartProgram(String[] args) throws IOException, GeneralSecurityException {
        Path state = Path.of(args[0]);
        agent = AgentHostMachine.open(state, Path.of(args[1]), Path.of(args[3]), args[4]);
        images = new GuestImages(Path.of(args[2]));
        plans = agent.plans(Path.of(args[2]).resolve("current").toRealPath());
        bare = Path.of(args[5]);
        tap = args[6];
        pid = Long.parseLong(args[7]);
        KeyPairGenerator keys = KeyPairGenerator.getInstance("EC");
        keys.initialize(new ECGenParameterSpec("secp256r1"));
        receipts = HostStatements.open(state.resolve("receipts"), SigningKey.of(keys.generateKeyPair()), agent.clock());
        loop = agent.rounds(
                new StatementRecordingBackend(agent.local(receipts), receipts, agent.ledger()::entry), Duration.ZERO);
    }

    public static void main(String[] args) throws IOException, GeneralSecurityException, InterruptedException {
        VmStartProgram starts = new VmStartProgram(args);
        Process virsh = new ProcessBuilder("virsh", "--quiet", "--connect", args[4])
                .redirectOutput(ProcessBuilder.Redirect.to(
                        starts.bare.resolve("virsh.log").toFile()))
                .redirectErrorStream(true)
                .start();
        try (starts.agent;
                Writer commands = new BufferedWriter(
                        new OutputStreamWriter(virsh.getOutputStream(), StandardCharsets.US_ASCII))) {
            starts.loop.start(starts::rounded);
            int count = Integer.parseInt(args[8]);
            for (int i = -WARM; i < count; i++) {
                starts.ours(FIRST + WARM + i, i >= 0);
                report(i >= 0, "libvirt", starts.byLibvirt(commands));
                report(i >= 0, "bare", starts.byHand());
            }
            starts.loop.close();
            starts.wireUps(Integer.parseInt(args[9]));
        } finally {
            virsh.destroy();
        }
    }

    private static void report(boolean counts, String metric, long ns) {
        if (counts) {
            System.out.println(String.format(Locale.ROOT, "%s %.6f", metric, ns / 1e9));
        }
    }

    private void rounded(ReconcilePass.Outcome outcome, Duration took) {
        receipts.onPass(outcome.done(), outcome.isClean(), agent.ledger()::entries);
        outcome.problems().forEach(System.err::println);
        rounded.release();
    }

    /** Measures our start, from the accepted ticket until the VM has ended. */
    private void ours(int number, boolean counts) throws IOException, InterruptedException {
        try (Console console = Console.at(bare.resolve("console"))) {
            long startNs = System.nanoTime();
            images.current();
            report(counts, "phase_image", System.nanoTime() - startNs);
            StepCgroup step = StepCgroup.of(pid, CgroupJobStep.NUMBERED);
            VmPlan plan = withConsole(plans.plan(number, step.job()), console.path());
            TimedStepMaker steps = new TimedStepMaker(new StatementStepRunner(
                    new LocalVmStepRunner(agent.parts(), plan, HostVmPlans.assignment(plan.owner()), step),
                    receipts,
                    plan,
                    Digest.sha256(new byte[] {1})));
            long buildNs = System.nanoTime();
            report(counts, "phase_plan", buildNs - startNs);
            agent.building()
                    .build(VmLedgerEntry.claim(plan.owner(), true, agent.clock().millis()), steps);
            long runningNs = System.nanoTime();
            long kernelNs = console.firstNs(LIMIT);
            long made = 0;
            for (Map.Entry<VmStartStep, Long> each : steps.durationsNs().entrySet()) {
                report(counts, "phase_" + each.getKey().name().toLowerCase(Locale.ROOT), each.getValue());
                made += each.getValue();
            }
            long libvirt = steps.durationsNs().getOrDefault(VmStartStep.DOMAIN_PAUSED, 0L);
            report(counts, "phase_ledger", runningNs - buildNs - made);
            report(counts, "phase_kernel", kernelNs - runningNs);
            report(counts, "domain", libvirt);
            report(counts, "added", runningNs - startNs - libvirt);
            report(counts, "ours", kernelNs - startNs);
            stopVm(plan.owner().uuid());
        } catch (StartFailed | VmBuildFailed e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private void stopVm(String uuid) throws IOException, InterruptedException {
        agent.ledger()
                .recordEnd(
                        uuid,
                        new VmTermination(
                                VmTermination.Why.ASKED, "", agent.clock().millis()));
        long deadlineNs = System.nanoTime() + LIMIT.toNanos();
        rounded.drainPermits();
        loop.wake();
        while (!agent.ledger().entries().isEmpty()) {
            if (!rounded.tryAcquire(deadlineNs - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                throw new LabException("VM " + uuid + ": not gone within " + LIMIT, "read what rounds said");
            }
        }
    }

    private static VmPlan withConsole(VmPlan plan, Path console) {
        DomainSpec spec =
                with(plan.domain(), plan.domain().disks(), plan.domain().channel(), console);
        return new VmPlan(
                spec, plan.port(), plan.mtu(), plan.scratchBytes(), plan.image(), plan.sharing(), plan.drive());
    }

    private static DomainSpec with(DomainSpec spec, List<DomainDisk> disks, Path channel, Path console) {
        DirectKernelBoot boot = spec.boot();
        return new DomainSpec(
                spec.owner(),
                spec.accelerator(),
                new DirectKernelBoot(boot.firmware(), boot.kernel(), boot.initrd(), boot.commandLine() + EARLY),
                spec.cpus(),
                spec.memoryMib(),
                spec.backing(),
                disks,
                spec.mac(),
                channel,
                spec.tpm(),
                spec.launchSecurity(),
                Optional.of(console));
    }

    /** Returns the same VM, with a disk, tap and port that exist already. */
    private DomainSpec prepared(Path console) throws IOException {
        DomainSpec spec = plans.plan(BARE, 1).domain();
        List<DomainDisk> disks = new ArrayList<>();
        for (DomainDisk each : spec.disks()) {
            disks.add(
                    each.use() == DomainDisk.Use.LAYER
                            ? each
                            : new DomainDisk(bare.resolve("scratch"), each.serial(), each.use()));
        }
        return with(spec, disks, bare.resolve("channel"), console);
    }

    /** Measures a start of a domain that no reconcile pass of ours knows. */
    private long byLibvirt(Writer commands) throws IOException {
        try (Console console = Console.at(bare.resolve("console"))) {
            DomainSpec spec = prepared(console.path());
            String xml = DomainXml.of(spec)
                    .replaceAll("(?s)<metadata>.*</metadata>", "")
                    .replace(">" + spec.owner().names().domain() + "<", ">" + DOMAIN + "<")
                    .replace("\"" + spec.owner().names().tap() + "\"", "\"" + tap + "\"");
            Path file = Files.writeString(bare.resolve("domain.xml"), xml);
            long startNs = System.nanoTime();
            commands.write("create " + file + "\n");
            commands.flush();
            long kernelNs = console.firstNs(LIMIT);
            Path process = Path.of("/run/libvirt/qemu", DOMAIN + ".pid");
            commands.write("destroy " + DOMAIN + "\n");
            commands.flush();
            Poll.until("the end of domain " + DOMAIN, LIMIT, "virsh destroy", () -> !Files.exists(process));
            return kernelNs - startNs;
        }
    }

    private long byHand() throws IOException, InterruptedException {
        try (Console console = Console.at(bare.resolve("console"))) {
            List<String> argv = BareQemu.argv(prepared(console.path()), tap);
            Files.deleteIfExists(bare.resolve("channel"));
            long startNs = System.nanoTime();
            Process qemu = new ProcessBuilder(argv)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(
                            ProcessBuilder.Redirect.to(bare.resolve("qemu.log").toFile()))
                    .start();
            try {
                return console.firstNs(LIMIT) - startNs;
            } finally {
                qemu.destroyForcibly();
                qemu.waitFor();
            }
        }
    }

    private void wireUps(int count) throws IOException, InterruptedException {
        ParallelPortSetup wireUps = new ParallelPortSetup(agent, plans, StepCgroup.of(pid, CgroupJobStep.NUMBERED));
        for (int i = -WARM; i < count; i++) {
            report(i >= 0, "wire_ups", wireUps.connect(WIRED, WIRE_UPS));
        }
    }
}
