package org.cloister.host.run;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.cloister.daemon.Fatal;
import org.cloister.daemon.http.HttpListener;
import org.cloister.host.HostConfig;
import org.cloister.host.HostMetrics;
import org.cloister.host.MetricsRequests;
import org.cloister.host.channel.ChannelPlan;
import org.cloister.host.channel.Channels;
import org.cloister.host.channel.Evidence;
import org.cloister.host.desk.Desk;
import org.cloister.host.desk.Steps;
import org.cloister.host.disk.ScratchFolder;
import org.cloister.host.drive.Drives;
import org.cloister.host.health.NodeHealth;
import org.cloister.host.health.NodeWatch;
import org.cloister.host.health.SlurmNode;
import org.cloister.host.ledger.Building;
import org.cloister.host.ledger.Entry;
import org.cloister.host.ledger.Ledger;
import org.cloister.host.ledger.Part;
import org.cloister.host.ledger.Round;
import org.cloister.host.ledger.Step;
import org.cloister.host.libvirt.Hypervisor;
import org.cloister.host.libvirt.LibvirtHypervisor;
import org.cloister.host.machine.HostParts;
import org.cloister.host.machine.LocalMachine;
import org.cloister.host.machine.Ports;
import org.cloister.host.machine.Processes;
import org.cloister.host.machine.Rounds;
import org.cloister.host.machine.Taps;
import org.cloister.host.machine.VmFolders;
import org.cloister.host.plan.Images;
import org.cloister.host.receipt.Parts;
import org.cloister.host.receipt.Reporting;
import org.cloister.host.receipt.WitnessedMachine;
import org.cloister.host.root.RootPart;
import org.cloister.host.step.Entrance;
import org.cloister.host.step.GlobalJobs;
import org.cloister.host.ticket.ClaimReader;
import org.cloister.host.ticket.Claims;
import org.cloister.host.ticket.EpochBook;
import org.cloister.ovs.SecureBridge;
import org.cloister.protocol.channel.Forwarding;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.StatementFolder;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.AgentLink;
import org.cloister.protocol.link.Enrolled;
import org.cloister.protocol.link.Trust;
import org.cloister.slurm.SlurmProgram;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The daemon of a compute host, joined from its parts. Closing it leaves VMs as they are. */
final class Host implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Host.class);
    /** Of one question to files, kernel and bridge. */
    private static final Duration LIMIT = Duration.ofSeconds(20);
    /** After a VM's end, the time for its shutdown not counted: then what is left of it is a leak. */
    private static final Duration UNDO = Duration.ofSeconds(60);

    /** Above what agent-host-root gives Slurm's commands. */
    private static final Duration ROOT_LIMIT = Duration.ofSeconds(30);
    /** To Slurm, while it gives no answer. */
    private static final Duration RETRY = Duration.ofSeconds(10);

    private static final Path IP = Path.of("/sbin/ip");
    private static final String SOFTWARE = "agent-host";

    private final HostConfig config;
    private final Name name;
    /** In the order in which it was made. */
    private final Deque<AutoCloseable> made = new ArrayDeque<>();

    private volatile boolean closing;

    private Host(HostConfig config, Name name) {
        this.config = config;
        this.name = name;
    }

    /** Returns when it answers callers; whether it takes work is another thing. */
    static Host open(HostConfig config) throws IOException {
        Enrolled self = Enrolled.read(
                config.own().certificate(), config.own().key(), config.own().site(), Role.HOST);
        Host host = new Host(config, self.name());
        try {
            host.begin(self);
            return host;
        } catch (IOException | RuntimeException e) {
            host.close();
            throw e;
        }
    }

    String name() {
        return name.toString();
    }

    /** What is on this host, and how it is looked at and changed. */
    private record Here(
            Ledger ledger,
            HostMetrics metrics,
            Hypervisor hypervisor,
            HostParts machine,
            Parts receipts,
            Building building,
            Rounds rounds,
            Ender ender) {}

    private void begin(Enrolled self) throws IOException {
        InstantSource clock = InstantSource.system();
        SigningKey key = self.key();
        Path state = Files.createDirectories(config.folders().state());
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
        made.push(() -> loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly());
        SlurmProgram slurm = new SlurmProgram(
                config.slurm().programs(),
                config.slurm().configuration(),
                config.slurm().limit());
        SlurmNode node = new SlurmNode(slurm, config.slurm().node());
        RootPart root = new RootPart(config.folders().root(), ROOT_LIMIT);
        boolean isRoot = isRoot();
        Here here = here(state, key, isRoot ? Entrance.DIRECT : root, clock);

        Preflight preflight = keep(new Preflight(config, here.hypervisor));
        Beliefs beliefs = new Beliefs(self.anchors(), RevocationLists.none(), clock);
        HeadWitness heads = keep(new HeadWitness(state.resolve("heads"), key));
        EpochBook epochs = EpochBook.open(state.resolve("epochs"));
        ClaimReader reader = new ClaimReader(key.verificationKey(), beliefs, epochs, here.ledger::knows);
        Claims claims = keep(new Claims(reader, heads, Claims.USUAL_PATIENCE));
        Readiness readiness = new Readiness(here.rounds::last, claims::isThere, preflight::failure);
        NodeWatch watch = keep(new NodeWatch(
                new NodeHealth(NodeHealth.Times.DEFAULT),
                node,
                isRoot ? node : root,
                () -> readiness.unfit().stream().toList(),
                clock,
                RETRY));
        Optional<DriveWatch> drives = config.vm().drives().map(folder -> keep(drives(folder, here)));
        here.metrics.showDrives(() -> drives.map(DriveWatch::held).orElse(0));
        RunParts parts = new RunParts(
                here.ledger,
                here.building,
                here.rounds,
                here.machine,
                here.receipts,
                new GlobalJobs(slurm, config.slurm().account(), config.slurm().node()),
                claims,
                new Images(config.folders().images()),
                preflight,
                readiness,
                watch,
                here.metrics,
                here.ender,
                drives,
                clock);
        Runs runs = keep(new Runs(parts));

        Forwarding forwarding = new Forwarding(name, new OwnLink(claims, heads));
        start(here, parts, runs, listening(state, key, parts, runs, forwarding, loops));
        keep(new AgentLink(loops, terms(self, beliefs), forwarding, new SecureRandom()));
        serve(loops, here.metrics, readiness);
        HostWork work = new HostWork(name.toString(), parts, runs);
        keep(Desk.open(config.folders().socket(), config.group(), config.slurm().account(), Steps.OF_KERNEL, work));
    }

    private Here here(Path state, SigningKey key, Entrance entrance, InstantSource clock) throws IOException {
        Ledger ledger = keep(Ledger.open(state.resolve("ledger"), this::broken));
        Duration undo = UNDO.plus(config.vm().times().powerOff());
        HostMetrics metrics = new HostMetrics(ledger::entries, undo, clock);
        SecureBridge bridge = keep(SecureBridge.open(config.bridge(), metrics.registry()));
        Hypervisor hypervisor = keep(
                new LibvirtHypervisor(config.libvirt().uri(), config.libvirt().limit()));
        HostParts machine = machine(state, hypervisor, bridge, entrance);
        Building building = new Building(ledger, clock);
        Parts receipts = Parts.open(state.resolve("receipts"), key, clock);
        LocalMachine local = new LocalMachine(machine, config.vm().erasing(), receipts, LIMIT);
        WitnessedMachine witnessed = new WitnessedMachine(local, receipts, ledger::entry);
        Round round = new Round(ledger, building, witnessed, config.vm().times(), clock);
        Rounds rounds =
                keep(new Rounds(round, machine.ports()::tell, config.vm().round(), clock));
        Ender ender = new Ender(ledger, metrics, rounds::ring, owner -> witnessed.remove(owner, Part.DOMAIN), clock);
        return new Here(ledger, metrics, hypervisor, machine, receipts, building, rounds, ender);
    }

    /** VMs live on. A stop of this process is under way to the same end, and interrupts who writes. */
    private void broken(String why) {
        if (!closing) {
            Fatal.halting(SOFTWARE).end(why);
        }
    }

    private DriveWatch drives(Path folder, Here here) {
        Duration age = config.vm().driveAge();
        return new DriveWatch(
                new Drives(folder, name.toString(), age),
                here.ledger::entries,
                here.machine.folders()::plan,
                here.ender::fence,
                age,
                System::nanoTime);
    }

    /** What VMs say, and what is heard of it in each round. */
    private Consumer<Ledger> listening(
            Path state, SigningKey key, RunParts parts, Runs runs, Forwarding forwarding, EventLoopGroup loops)
            throws IOException {
        HostMetrics metrics = parts.metrics();
        StatementFolder statements = new StatementFolder(Files.createDirectories(state.resolve("statements")));
        Evidence evidence = new Evidence(name.id(), key, statements, parts.clock(), metrics.channels());
        Channels channels = keep(new Channels(
                loops, forwarding, evidence, parts.host().folders()::assignment, runs::spoke, metrics.channels()));
        metrics.show(channels);
        Leaving leaving = new Leaving(parts.ledger(), config.vm().times(), parts.clock(), channels);
        runs.listen(leaving::asked);
        return ledger -> {
            listen(ledger.entries(), parts.host().folders(), leaving, channels);
            retain(evidence, ledger);
        };
    }

    private static void start(Here here, RunParts parts, Runs runs, Consumer<Ledger> listening) {
        here.hypervisor.listen(event -> {
            parts.readiness().heard(event);
            here.rounds.heard(event);
        });
        Reporting reporting = new Reporting(here.receipts, parts.claims()::report, parts.clock());
        here.rounds.start((outcome, took) -> {
            here.metrics.rounded(outcome, took);
            parts.watch().rounded(outcome);
            here.receipts.rounded(outcome.done(), outcome.isClean(), here.ledger::entries);
            reporting.look();
            if (outcome.unheard().isEmpty()) {
                listening.accept(here.ledger);
            }
            parts.drives().ifPresent(drives -> drives.rounded(outcome.unheard().isEmpty()));
            runs.rounded(outcome);
        });
        parts.watch().start();
        parts.drives().ifPresent(DriveWatch::start);
        parts.preflight().start();
    }

    private HostParts machine(Path state, Hypervisor hypervisor, SecureBridge bridge, Entrance entrance)
            throws IOException {
        VmFolders folders = new VmFolders(Files.createDirectories(state.resolve("vms")));
        Path scratch = Files.createDirectories(config.folders().scratch());
        long budget = config.scratchMib().isPresent()
                ? (long) config.scratchMib().getAsInt() << 20
                : Files.getFileStore(scratch).getTotalSpace();
        return new HostParts(
                folders,
                new ScratchFolder(scratch, budget),
                new Taps(IP, LIMIT),
                new Ports(bridge, folders),
                hypervisor,
                new Processes(config.libvirt().pids(), entrance));
    }

    private static boolean isRoot() throws IOException {
        return Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
    }

    private AgentLink.Terms terms(Enrolled self, Beliefs beliefs) throws IOException {
        return new AgentLink.Terms(
                config.relays(), self.renewal(new SecureRandom()), this::accepted, beliefs, SOFTWARE);
    }

    private Trust accepted(Trust trust) {
        return config.relayNames().isEmpty() ? trust : trust.among(config.relayNames());
    }

    /** Those that run, or are about to, each have their channel; who is asked to end, until the time for that is over. */
    private static void listen(List<Entry> entries, VmFolders folders, Leaving leaving, Channels channels) {
        List<ChannelPlan> plans = new ArrayList<>();
        for (Entry entry : entries) {
            if (entry.step().compareTo(Step.RUNNING) >= 0 && leaving.mayTalk(entry)) {
                try {
                    plans.add(ChannelPlans.of(folders.plan(entry.owner())));
                } catch (IOException e) {
                    LOG.error("VM {} has no channel: {}", entry.owner().uuid(), e.getMessage());
                }
            }
        }
        channels.keep(plans);
        entries.forEach(leaving::tell);
    }

    private static void retain(Evidence evidence, Ledger ledger) {
        try {
            evidence.retain(() -> ledger.entries().stream().map(Entry::owner).toList());
        } catch (IOException e) {
            LOG.warn("statements of VMs that are no more are not taken away: {}", e.getMessage());
        }
    }

    private void serve(EventLoopGroup loops, HostMetrics metrics, Readiness readiness) throws IOException {
        if (config.metrics() != null) {
            keep(HttpListener.on(config.metrics(), new MetricsRequests(metrics.registry(), readiness::unready), loops));
        }
    }

    private <T extends AutoCloseable> T keep(T part) {
        made.push(part);
        return part;
    }

    @Override
    public void close() throws IOException {
        closing = true;
        while (!made.isEmpty()) {
            try {
                made.pop().close();
            } catch (IOException | RuntimeException e) {
                LOG.warn("not closed: {}", e.getMessage());
            } catch (Exception e) {
                throw new IllegalStateException("no part above throws another one", e);
            }
        }
    }
}
