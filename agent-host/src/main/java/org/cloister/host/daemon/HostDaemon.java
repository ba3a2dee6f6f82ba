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
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.cloister.daemon.ProcessAbort;
import org.cloister.daemon.SystemdNotifier;
import org.cloister.daemon.SystemdWatchdog;
import org.cloister.daemon.http.AdminHttpServer;
import org.cloister.host.HostConfig;
import org.cloister.host.HostSlurmConfig;
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
import org.cloister.host.reconcile.VmTimeouts;
import org.cloister.host.resources.BridgePorts;
import org.cloister.host.resources.DomainProcesses;
import org.cloister.host.resources.LocalHostBackend;
import org.cloister.host.resources.ResourceProviders;
import org.cloister.host.resources.TapDevices;
import org.cloister.host.resources.VmFolders;
import org.cloister.host.scratch.ScratchFolder;
import org.cloister.host.slurmstep.CachedTicketJobs;
import org.cloister.host.slurmstep.CgroupAttacher;
import org.cloister.host.slurmstep.GlobalJobQuery;
import org.cloister.host.slurmstep.JobNumbers;
import org.cloister.host.slurmstep.TicketJobs;
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
    private static final Duration LEAK_GRACE = Duration.ofSeconds(60);
    /** Longer than the limit that agent-host-root sets for Slurm's commands. */
    private static final Duration ROOT_LIMIT = Duration.ofSeconds(30);
    /** Interval of retries while Slurm does not answer. */
    private static final Duration RETRY = Duration.ofSeconds(10);

    private static final Path IP = Path.of("/sbin/ip");
    private static final String SOFTWARE = "agent-host";

    private final HostConfig config;
    private final CertificateName name;
    private final InstantSource clock = InstantSource.system();
    /** Components to close, the newest first. */
    private final Deque<AutoCloseable> components = new ArrayDeque<>();

    private volatile boolean closing;

    private HostDaemon(HostConfig config, CertificateName name) {
        this.config = config;
        this.name = name;
    }

    /** Starts the daemon. Returns when it serves callers; it may not accept work yet. */
    static HostDaemon open(HostConfig config, SystemdNotifier notifier) throws IOException {
        EnrolledMachine self = EnrolledMachine.read(
                config.credentials().certificate(),
                config.credentials().key(),
                config.credentials().site(),
                CertificateRole.HOST);
        HostDaemon host = new HostDaemon(config, self.name());
        try {
            host.start(self, notifier);
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

    private void start(EnrolledMachine self, SystemdNotifier notifier) throws IOException {
        SigningKey key = self.key();
        Path state = Files.createDirectories(config.folders().state());
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
        components.push(() -> loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly());
        HostSlurmConfig slurmConfig = config.slurm();
        SlurmCommand slurm = new SlurmCommand(slurmConfig.programs(), slurmConfig.configuration(), slurmConfig.limit());
        SlurmNodeClient node = new SlurmNodeClient(slurm, slurmConfig.node());
        AgentHostRootClient root = new AgentHostRootClient(config.folders().root(), ROOT_LIMIT);
        boolean isRoot = isRoot();
        TicketJobs jobs = new CachedTicketJobs(isRoot ? ticketJobs(slurm) : root);
        LocalState localState = localState(state, key, isRoot ? CgroupAttacher.DIRECT : root, jobs);

        HostPreflight preflight = manage(new HostPreflight(config, localState.hypervisor));
        TrustStore trustStore = new TrustStore(self.anchors(), RevocationLists.none(), clock);
        HostHeadWitness headWitness = manage(new HostHeadWitness(state.resolve("heads"), key));
        EpochStore epochs = EpochStore.open(state.resolve("epochs"));
        ClaimResponseVerifier verifier =
                new ClaimResponseVerifier(key.verificationKey(), trustStore, epochs, localState.ledger::hasTicket);
        TicketClaims claims = manage(new TicketClaims(verifier, headWitness, TicketClaims.DEFAULT_TIMEOUT));
        HostReadiness readiness = new HostReadiness(
                localState.reconcileLoop::last, claims::isConnected, new StateRoom(state)::failure, preflight::failure);
        NodeHealthMonitor healthMonitor = manage(new NodeHealthMonitor(
                new NodeHealth(NodeHealth.Delays.DEFAULT),
                node,
                isRoot ? node : root,
                () -> readiness.unfit().stream().toList(),
                clock,
                RETRY));
        Optional<DriveLeaseMonitor> drives = config.vm().drives().map(folder -> manage(drives(folder, localState)));
        localState.metrics.registerDrives(
                () -> drives.map(DriveLeaseMonitor::count).orElse(0));
        VmPreparation preparation = new VmPreparation(
                jobs,
                preflight,
                readiness,
                claims,
                new GuestImages(config.folders().images()),
                localState.resources,
                localState.statements);
        VmRuns runs = manage(vmRuns(localState, preparation, drives, healthMonitor, claims::reportFault));

        VmForwarder forwarder = new VmForwarder(name, new HostLinkListener(claims, headWitness));
        ChannelUpdates channelUpdates = channelUpdates(state, key, localState, runs, forwarder, loops);
        localState.hypervisor.setListener(event -> {
            readiness.onHypervisorEvent(event);
            localState.reconcileLoop.onHypervisorEvent(event);
        });
        StatementReporter reporter = new StatementReporter(localState.statements, claims::report, clock);
        startPasses(localState, healthMonitor, reporter, channelUpdates, drives, runs);
        healthMonitor.start();
        drives.ifPresent(DriveLeaseMonitor::start);
        preflight.start();
        manage(new AgentLink(loops, linkSettings(self, trustStore), forwarder, new SecureRandom()));
        serve(loops, localState.metrics, readiness);
        SystemdWatchdog.start(notifier, loops, openControlSocket(localState, jobs, readiness, runs)::status);
    }

    private VmRuns vmRuns(
            LocalState localState,
            VmPreparation preparation,
            Optional<DriveLeaseMonitor> drives,
            NodeHealthMonitor healthMonitor,
            FaultReport.Project project) {
        VmCreation creation = new VmCreation(
                preparation,
                drives,
                localState.builder,
                localState.ledger,
                localState.reconcileLoop,
                localState.metrics,
                clock);
        return new VmRuns(creation, localState.ledger, localState.terminator, healthMonitor, project, clock);
    }

    private LocalHostOperations openControlSocket(
            LocalState localState, JobNumbers numbers, HostReadiness readiness, VmRuns runs) throws IOException {
        LocalHostOperations operations = new LocalHostOperations(
                name.toString(),
                localState.ledger,
                localState.resources,
                localState.reconcileLoop,
                readiness,
                runs,
                clock);
        manage(ControlServer.open(
                config.folders().socket(),
                config.group(),
                config.slurm().account(),
                CallerJobLookup.fromCgroups(numbers),
                operations));
        return operations;
    }

    private LocalState localState(Path state, SigningKey key, CgroupAttacher attacher, JobNumbers numbers)
            throws IOException {
        VmLedger ledger = manage(VmLedger.open(state.resolve("ledger"), this::abortProcess));
        Duration leakGrace = LEAK_GRACE.plus(config.vm().timeouts().powerOff());
        HostMetrics metrics = new HostMetrics(ledger::entries, leakGrace, clock);
        SecureBridge bridge = manage(SecureBridge.open(config.bridge(), metrics.registry()));
        Hypervisor hypervisor = manage(
                new LibvirtHypervisor(config.libvirt().uri(), config.libvirt().limit()));
        ResourceProviders resourceProviders = resourceProviders(state, hypervisor, bridge, attacher, numbers);
        VmBuilder builder = new VmBuilder(ledger, clock);
        HostStatements statements = HostStatements.open(state.resolve("receipts"), key, clock);
        LocalHostBackend local =
                new LocalHostBackend(resourceProviders, config.vm().erasureMethod(), statements, LIMIT);
        StatementRecordingBackend recordingBackend = new StatementRecordingBackend(local, statements, ledger::entry);
        ReconcilePass pass =
                new ReconcilePass(ledger, builder, recordingBackend, config.vm().timeouts(), clock);
        ReconcileLoop loop = manage(new ReconcileLoop(
                pass, resourceProviders.ports()::adoptFoundPorts, config.vm().passInterval(), clock));
        VmTerminator terminator = new VmTerminator(
                ledger, metrics, loop::wake, owner -> recordingBackend.remove(owner, ResourceKind.DOMAIN), clock);
        return new LocalState(ledger, metrics, hypervisor, resourceProviders, statements, builder, loop, terminator);
    }

    /**
     * Aborts the process; VMs continue to run. During a stop it does nothing: the process is ending anyway, and the
     * stop interrupts writers.
     */
    private void abortProcess(String why) {
        if (!closing) {
            ProcessAbort.halting(SOFTWARE).abort(why);
        }
    }

    private DriveLeaseMonitor drives(Path folder, LocalState localState) {
        Duration age = config.vm().leaseAge();
        return new DriveLeaseMonitor(
                new SharedDrives(folder, name.toString(), age),
                localState.ledger::entries,
                localState.resources.folders()::plan,
                localState.terminator::fence,
                age,
                System::nanoTime);
    }

    private ChannelUpdates channelUpdates(
            Path state, SigningKey key, LocalState localState, VmRuns runs, VmForwarder forwarder, EventLoopGroup loops)
            throws IOException {
        HostMetrics metrics = localState.metrics;
        VmFolders folders = localState.resources.folders();
        VmTimeouts times = config.vm().timeouts();
        EvidenceFileStore statements = new EvidenceFileStore(Files.createDirectories(state.resolve("statements")));
        VmEvidenceIssuer evidenceIssuer = new VmEvidenceIssuer(name.id(), key, statements, clock, metrics.channels());
        VmChannels channels = manage(new VmChannels(
                loops,
                forwarder,
                evidenceIssuer,
                folders::assignment,
                runs::onRegistered,
                metrics.channels(),
                System::nanoTime));
        metrics.registerChannels(channels);
        GuestShutdownNotifier shutdownNotifier = new GuestShutdownNotifier(localState.ledger, times, clock, channels);
        runs.setEndListener(shutdownNotifier::onEndRecorded);
        return new ChannelUpdates(
                localState.ledger, folders, times, channels, evidenceIssuer, shutdownNotifier, localState.terminator);
    }

    private static void startPasses(
            LocalState localState,
            NodeHealthMonitor healthMonitor,
            StatementReporter reporter,
            ChannelUpdates channelUpdates,
            Optional<DriveLeaseMonitor> drives,
            VmRuns runs) {
        localState.reconcileLoop.start((outcome, took) -> {
            localState.metrics.recordPass(outcome, took);
            healthMonitor.onPass(outcome);
            localState.statements.onPass(outcome.done(), outcome.isClean(), localState.ledger::entries);
            reporter.poll();
            if (outcome.neverAnswered().isEmpty()) {
                channelUpdates.update();
            }
            drives.ifPresent(each -> each.onPass(outcome.neverAnswered().isEmpty()));
            runs.onPass(outcome);
        });
    }

    private ResourceProviders resourceProviders(
            Path state, Hypervisor hypervisor, SecureBridge bridge, CgroupAttacher attacher, JobNumbers numbers)
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
                new DomainProcesses(config.libvirt().pids(), attacher, numbers));
    }

    /** Returns root's own query. PrivateData hides the service account's jobs from other accounts. */
    private TicketJobs ticketJobs(SlurmCommand slurm) {
        return new GlobalJobQuery(
                slurm, config.slurm().account(), config.slurm().node());
    }

    private static boolean isRoot() throws IOException {
        return Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
    }

    private AgentLink.Settings linkSettings(EnrolledMachine self, TrustStore trustStore) throws IOException {
        return new AgentLink.Settings(
                config.relays(), self.renewal(new SecureRandom()), this::restrictToNames, trustStore, SOFTWARE);
    }

    private CertifiedPeerVerifier restrictToNames(CertifiedPeerVerifier trust) {
        return config.relayNames().isEmpty() ? trust : trust.among(config.relayNames());
    }

    private void serve(EventLoopGroup loops, HostMetrics metrics, HostReadiness readiness) throws IOException {
        if (config.metrics() != null) {
            manage(AdminHttpServer.listen(
                    config.metrics(), new HostHttpEndpoint(metrics.registry(), readiness::unready), loops));
        }
    }

    private <T extends AutoCloseable> T manage(T component) {
        components.push(component);
        return component;
    }

    @Override
    public void close() throws IOException {
        closing = true;
        while (!components.isEmpty()) {
            try {
                components.pop().close();
            } catch (IOException | RuntimeException e) {
                LOG.warn("a component cannot be closed: {}", e.getMessage());
            } catch (Exception e) {
                throw new IllegalStateException("a component throws an unexpected checked exception", e);
            }
        }
    }
}
