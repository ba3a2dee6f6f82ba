package org.cloister.host.daemon;

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
import org.cloister.daemon.ProcessAbort;
import org.cloister.daemon.http.AdminHttpServer;
import org.cloister.host.HostConfig;
import org.cloister.host.HostSlurmConfig;
import org.cloister.host.channel.ChannelPlan;
import org.cloister.host.channel.EvidenceFileStore;
import org.cloister.host.channel.VmChannels;
import org.cloister.host.channel.VmEvidenceIssuer;
import org.cloister.host.control.CallerJobLookup;
import org.cloister.host.control.ControlServer;
import org.cloister.host.drive.SharedDrives;
import org.cloister.host.health.NodeHealth;
import org.cloister.host.health.NodeHealthMonitor;
import org.cloister.host.health.SlurmNodeClient;
import org.cloister.host.libvirt.Hypervisor;
import org.cloister.host.libvirt.LibvirtHypervisor;
import org.cloister.host.metrics.HostHttpEndpoint;
import org.cloister.host.metrics.HostMetrics;
import org.cloister.host.plan.GuestImages;
import org.cloister.host.receipts.HostStatements;
import org.cloister.host.receipts.StatementRecordingBackend;
import org.cloister.host.receipts.StatementReporter;
import org.cloister.host.reconcile.ReconcileLoop;
import org.cloister.host.reconcile.ReconcilePass;
import org.cloister.host.reconcile.ResourceKind;
import org.cloister.host.reconcile.VmBuilder;
import org.cloister.host.reconcile.VmLedger;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmStartStep;
import org.cloister.host.resources.BridgePorts;
import org.cloister.host.resources.DomainProcesses;
import org.cloister.host.resources.LocalHostBackend;
import org.cloister.host.resources.ResourceProviders;
import org.cloister.host.resources.TapDevices;
import org.cloister.host.resources.VmFolders;
import org.cloister.host.scratch.ScratchFolder;
import org.cloister.host.slurmstep.CgroupAttacher;
import org.cloister.host.slurmstep.GlobalJobQuery;
import org.cloister.host.tickets.ClaimResponseVerifier;
import org.cloister.host.tickets.EpochStore;
import org.cloister.host.tickets.TicketClaims;
import org.cloister.ovs.SecureBridge;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.slurm.SlurmCommand;
import org.cloister.transport.channel.VmForwarder;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.link.EnrolledMachine;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Daemon of a compute host, which creates and connects its components. Closing it stops no VM. */
final class HostDaemon implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HostDaemon.class);
    /** Time limit of one query to files, kernel and bridge. */
    private static final Duration LIMIT = Duration.ofSeconds(20);
    /** Time after a VM's end, without its shutdown time, after which a remaining resource counts as leaked. */
    private static final Duration UNDO = Duration.ofSeconds(60);

    /** Longer than the limit that agent-host-root sets for Slurm's commands. */
    private static final Duration ROOT_LIMIT = Duration.ofSeconds(30);
    /** Interval of retries while Slurm does not answer. */
    private static final Duration RETRY = Duration.ofSeconds(10);

    private static final Path IP = Path.of("/sbin/ip");
    private static final String SOFTWARE = "agent-host";

    private final HostConfig config;
    private final CertificateName name;
    /** Components to close, the newest first. */
    private final Deque<AutoCloseable> made = new ArrayDeque<>();

    private volatile boolean closing;

    private HostDaemon(HostConfig config, CertificateName name) {
        this.config = config;
        this.name = name;
    }

    /** Starts the daemon. Returns when it serves callers; it may not accept work yet. */
    static HostDaemon open(HostConfig config) throws IOException {
        EnrolledMachine self = EnrolledMachine.read(
                config.credentials().certificate(),
                config.credentials().key(),
                config.credentials().site(),
                CertificateRole.HOST);
        HostDaemon host = new HostDaemon(config, self.name());
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

    /** Local state of this host, and the components that observe and change it. */
    private record LocalState(
            VmLedger ledger,
            HostMetrics metrics,
            Hypervisor hypervisor,
            ResourceProviders resources,
            HostStatements statements,
            VmBuilder builder,
            ReconcileLoop reconcileLoop,
            VmTerminator terminator) {}

    private void begin(EnrolledMachine self) throws IOException {
        InstantSource clock = InstantSource.system();
        SigningKey key = self.key();
        Path state = Files.createDirectories(config.folders().state());
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
        made.push(() -> loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly());
        SlurmCommand slurm = slurmCommand();
        SlurmNodeClient node = new SlurmNodeClient(slurm, config.slurm().node());
        AgentHostRootClient root = new AgentHostRootClient(config.folders().root(), ROOT_LIMIT);
        boolean isRoot = isRoot();
        LocalState here = here(state, key, isRoot ? CgroupAttacher.DIRECT : root, clock);

        HostPreflight preflight = keep(new HostPreflight(config, here.hypervisor));
        TrustStore beliefs = new TrustStore(self.anchors(), RevocationLists.none(), clock);
        HostHeadWitness heads = keep(new HostHeadWitness(state.resolve("heads"), key));
        EpochStore epochs = EpochStore.open(state.resolve("epochs"));
        ClaimResponseVerifier reader =
                new ClaimResponseVerifier(key.verificationKey(), beliefs, epochs, here.ledger::hasTicket);
        TicketClaims claims = keep(new TicketClaims(reader, heads, TicketClaims.DEFAULT_TIMEOUT));
        HostReadiness readiness = new HostReadiness(here.reconcileLoop::last, claims::isConnected, preflight::failure);
        NodeHealthMonitor watch = keep(new NodeHealthMonitor(
                new NodeHealth(NodeHealth.Delays.DEFAULT),
                node,
                isRoot ? node : root,
                () -> readiness.unfit().stream().toList(),
                clock,
                RETRY));
        Optional<DriveLeaseMonitor> drives = config.vm().drives().map(folder -> keep(drives(folder, here)));
        here.metrics.registerDrives(() -> drives.map(DriveLeaseMonitor::count).orElse(0));
        VmRunContext parts = new VmRunContext(
                here.ledger,
                here.builder,
                here.reconcileLoop,
                here.resources,
                here.statements,
                new GlobalJobQuery(
                        slurm, config.slurm().account(), config.slurm().node()),
                claims,
                new GuestImages(config.folders().images()),
                preflight,
                readiness,
                watch,
                here.metrics,
                here.terminator,
                drives,
                clock);
        VmRuns runs = keep(new VmRuns(parts));

        VmForwarder forwarding = new VmForwarder(name, new HostLinkListener(claims, heads));
        start(here, parts, runs, listening(state, key, parts, runs, forwarding, loops));
        keep(new AgentLink(loops, terms(self, beliefs), forwarding, new SecureRandom()));
        serve(loops, here.metrics, readiness);
        LocalHostOperations work = new LocalHostOperations(name.toString(), parts, runs);
        keep(ControlServer.open(
                config.folders().socket(),
                config.group(),
                config.slurm().account(),
                CallerJobLookup.FROM_CGROUPS,
                work));
    }

    private SlurmCommand slurmCommand() {
        HostSlurmConfig slurm = config.slurm();
        return new SlurmCommand(slurm.programs(), slurm.configuration(), slurm.limit());
    }

    private LocalState here(Path state, SigningKey key, CgroupAttacher entrance, InstantSource clock)
            throws IOException {
        VmLedger ledger = keep(VmLedger.open(state.resolve("ledger"), this::broken));
        Duration undo = UNDO.plus(config.vm().timeouts().powerOff());
        HostMetrics metrics = new HostMetrics(ledger::entries, undo, clock);
        SecureBridge bridge = keep(SecureBridge.open(config.bridge(), metrics.registry()));
        Hypervisor hypervisor = keep(
                new LibvirtHypervisor(config.libvirt().uri(), config.libvirt().limit()));
        ResourceProviders machine = machine(state, hypervisor, bridge, entrance);
        VmBuilder building = new VmBuilder(ledger, clock);
        HostStatements receipts = HostStatements.open(state.resolve("receipts"), key, clock);
        LocalHostBackend local = new LocalHostBackend(machine, config.vm().erasureMethod(), receipts, LIMIT);
        StatementRecordingBackend witnessed = new StatementRecordingBackend(local, receipts, ledger::entry);
        ReconcilePass round =
                new ReconcilePass(ledger, building, witnessed, config.vm().timeouts(), clock);
        ReconcileLoop rounds = keep(new ReconcileLoop(
                round, machine.ports()::adoptFoundPorts, config.vm().passInterval(), clock));
        VmTerminator ender = new VmTerminator(
                ledger, metrics, rounds::wake, owner -> witnessed.remove(owner, ResourceKind.DOMAIN), clock);
        return new LocalState(ledger, metrics, hypervisor, machine, receipts, building, rounds, ender);
    }

    /**
     * Aborts the process; VMs continue to run. During a stop it does nothing: the process is ending anyway, and the
     * stop interrupts writers.
     */
    private void broken(String why) {
        if (!closing) {
            ProcessAbort.halting(SOFTWARE).abort(why);
        }
    }

    private DriveLeaseMonitor drives(Path folder, LocalState here) {
        Duration age = config.vm().leaseAge();
        return new DriveLeaseMonitor(
                new SharedDrives(folder, name.toString(), age),
                here.ledger::entries,
                here.resources.folders()::plan,
                here.terminator::fence,
                age,
                System::nanoTime);
    }

    /** Opens the VMs' channels and returns the action that updates them after each reconcile pass. */
    private Consumer<VmLedger> listening(
            Path state, SigningKey key, VmRunContext parts, VmRuns runs, VmForwarder forwarding, EventLoopGroup loops)
            throws IOException {
        HostMetrics metrics = parts.metrics();
        EvidenceFileStore statements = new EvidenceFileStore(Files.createDirectories(state.resolve("statements")));
        VmEvidenceIssuer evidence = new VmEvidenceIssuer(name.id(), key, statements, parts.clock(), metrics.channels());
        VmChannels channels = keep(new VmChannels(
                loops,
                forwarding,
                evidence,
                parts.resources().folders()::assignment,
                runs::onRegistered,
                metrics.channels()));
        metrics.registerChannels(channels);
        GuestShutdownNotifier leaving =
                new GuestShutdownNotifier(parts.ledger(), config.vm().timeouts(), parts.clock(), channels);
        runs.setEndListener(leaving::onEndRecorded);
        return ledger -> {
            listen(ledger.entries(), parts.resources().folders(), leaving, channels);
            retain(evidence, ledger);
        };
    }

    private static void start(LocalState here, VmRunContext parts, VmRuns runs, Consumer<VmLedger> listening) {
        here.hypervisor.setListener(event -> {
            parts.readiness().onHypervisorEvent(event);
            here.reconcileLoop.onHypervisorEvent(event);
        });
        StatementReporter reporting = new StatementReporter(here.statements, parts.claims()::report, parts.clock());
        here.reconcileLoop.start((outcome, took) -> {
            here.metrics.recordPass(outcome, took);
            parts.healthMonitor().onPass(outcome);
            here.statements.onPass(outcome.done(), outcome.isClean(), here.ledger::entries);
            reporting.poll();
            if (outcome.neverAnswered().isEmpty()) {
                listening.accept(here.ledger);
            }
            parts.drives()
                    .ifPresent(drives -> drives.onPass(outcome.neverAnswered().isEmpty()));
            runs.onPass(outcome);
        });
        parts.healthMonitor().start();
        parts.drives().ifPresent(DriveLeaseMonitor::start);
        parts.preflight().start();
    }

    private ResourceProviders machine(Path state, Hypervisor hypervisor, SecureBridge bridge, CgroupAttacher entrance)
            throws IOException {
        VmFolders folders = new VmFolders(Files.createDirectories(state.resolve("vms")));
        Path scratch = Files.createDirectories(config.folders().scratch());
        long budget = config.scratchMib().isPresent()
                ? (long) config.scratchMib().getAsInt() << 20
                : Files.getFileStore(scratch).getTotalSpace();
        return new ResourceProviders(
                folders,
                new ScratchFolder(scratch, budget),
                new TapDevices(IP, LIMIT),
                new BridgePorts(bridge, folders),
                hypervisor,
                new DomainProcesses(config.libvirt().pids(), entrance));
    }

    private static boolean isRoot() throws IOException {
        return Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
    }

    private AgentLink.Settings terms(EnrolledMachine self, TrustStore beliefs) throws IOException {
        return new AgentLink.Settings(
                config.relays(), self.renewal(new SecureRandom()), this::accepted, beliefs, SOFTWARE);
    }

    private CertifiedPeerVerifier accepted(CertifiedPeerVerifier trust) {
        return config.relayNames().isEmpty() ? trust : trust.among(config.relayNames());
    }

    /**
     * Gives each running or starting VM a channel; a VM that is asked to shut down keeps it until its time for that has
     * passed.
     */
    static void listen(
            List<VmLedgerEntry> entries, VmFolders folders, GuestShutdownNotifier leaving, VmChannels channels) {
        List<ChannelPlan> plans = new ArrayList<>();
        for (VmLedgerEntry entry : entries) {
            if (entry.step().compareTo(VmStartStep.RUNNING) >= 0 && leaving.mayUseChannel(entry)) {
                try {
                    plans.add(ChannelPlanner.of(folders.plan(entry.owner())));
                } catch (IOException e) {
                    LOG.error(
                            "the channel of VM {} cannot be opened: {}",
                            entry.owner().uuid(),
                            e.getMessage());
                }
            }
        }
        channels.reconcile(plans);
        entries.forEach(leaving::notifyGuest);
    }

    private static void retain(VmEvidenceIssuer evidence, VmLedger ledger) {
        try {
            evidence.retain(
                    () -> ledger.entries().stream().map(VmLedgerEntry::owner).toList());
        } catch (IOException e) {
            LOG.warn("evidence statements of former VMs cannot be deleted: {}", e.getMessage());
        }
    }

    private void serve(EventLoopGroup loops, HostMetrics metrics, HostReadiness readiness) throws IOException {
        if (config.metrics() != null) {
            keep(AdminHttpServer.listen(
                    config.metrics(), new HostHttpEndpoint(metrics.registry(), readiness::unready), loops));
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
                LOG.warn("a component cannot be closed: {}", e.getMessage());
            } catch (Exception e) {
                throw new IllegalStateException("a component throws an unexpected checked exception", e);
            }
        }
    }
}
