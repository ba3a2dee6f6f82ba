package org.cloister.vm.controller;

import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.cloister.luks.key.Hpke;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.handover.FolderPath;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.WorkerMount;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.TicketStreamClient;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.controller.admission.AdmissionContext;
import org.cloister.vm.controller.admission.AdmittedWorkers;
import org.cloister.vm.controller.admission.HandoverLedger;
import org.cloister.vm.controller.admission.WorkerAdmission;
import org.cloister.vm.controller.config.ControllerConfig;
import org.cloister.vm.controller.config.ProjectFolders;
import org.cloister.vm.controller.daemons.MungeKey;
import org.cloister.vm.controller.provision.SystemWorkerAccess;
import org.cloister.vm.controller.provision.WorkerProvisioner;
import org.cloister.vm.controller.queue.QueueJournal;
import org.cloister.vm.controller.receipts.ReceiptCollector;
import org.cloister.vm.controller.ssh.SshGateway;
import org.cloister.vm.controller.storage.NfsExports;
import org.cloister.vm.controller.tickets.SiteTrust;
import org.cloister.vm.controller.tickets.SiteWorkerAllocator;
import org.cloister.vm.controller.tickets.TicketFolder;
import org.cloister.vm.controller.unlock.ProjectConfigStore;
import org.cloister.vm.controller.unlock.VerifiedUnlock;
import org.cloister.vm.rpcfilter.FilterStateFile;
import org.cloister.vm.system.tunnel.ProjectTunnels;
import org.cloister.vm.system.users.ProjectMembers;

/**
 * A running project in its controlling VM: tunnels, storage, the Local Slurm, queue, tickets and workers. One thread
 * makes all decisions, and another carries out what blocks for workers. Parts are closed in reverse order of their
 * start.
 */
@SuppressWarnings("FutureReturnValueIgnored") // failures are logged where they occur
final class RunningProject implements AutoCloseable {
    private static final int SLURMCTLD_PORT = 6817;
    private static final Duration WORKER_SHUTDOWN_LIMIT = Duration.ofMinutes(4);
    private static final Duration TASK_INTERVAL = Duration.ofSeconds(30);

    private final ControllerEnvironment environment;
    private final OpenedProject opened;
    private final CertificateName name;
    private final VmShutdown shutdown;
    private final InstantSource clock = InstantSource.system();
    private final ScheduledExecutorService decisions =
            Executors.newSingleThreadScheduledExecutor(task -> new Thread(task, "decisions"));
    private final ExecutorService provisioning =
            Executors.newSingleThreadExecutor(task -> new Thread(task, "provisioning"));
    private final ResourceStack resources = new ResourceStack();
    private final ControllerConfig config;
    private final ControllerCertificate certificate;
    private final WorkerAdmission admission;
    private final TicketStreamClient tickets;
    private final SiteWorkerAllocator workers;
    private final SshGateway gateway;

    /** The trust of a controlling VM in its workers' certificates and in its site. */
    record TrustSources(TrustStore trustStore, SiteTrust siteTrust) {}

    private RunningProject(
            ControllerEnvironment environment,
            OpenedProject opened,
            BootKeyPairs keys,
            CertificateName name,
            TrustSources trust,
            VmShutdown shutdown)
            throws IOException {
        this.environment = environment;
        this.opened = opened;
        this.name = name;
        this.shutdown = shutdown;
        this.config = controllerConfig(environment, opened);
        this.certificate = new ControllerCertificate(name, opened.unlocked().authority(), keys, clock.instant());
        resources.push(decisions::shutdownNow);
        resources.push(provisioning::shutdownNow);
        ProjectServices services = new ProjectServices(environment, opened, keys, certificate, config, decisions);
        resources.push(services::close);
        boolean done = false;
        try {
            ProjectMembers members = members();
            ProjectTunnels tunnels = services.startTunnels();
            services.startTimeServer();
            MungeKey munge = MungeKey.generate(environment.crypto().secrets());
            resources.push(munge::close);
            FilterStateFile filter = services.startSlurm(munge, members);
            NfsExports exports = services.startStorage();
            QueueJournal journal = LocalQueue.openJournal(config);
            resources.push(journal::close);
            WorkerProvisioner provisioner = createProvisioner(
                    new SystemWorkerAccess(opened.networkInterface(), tunnels, exports, opened.network()),
                    journal::ownerOf,
                    members,
                    munge);
            SigningKey signing = keys.signer();
            ReceiptCollector receipts = openReceipts(signing, trust.siteTrust());
            this.admission = new WorkerAdmission(
                    admissionContext(trust),
                    new WorkerAdmission.Stores(
                            HandoverLedger.open(opened.layout().agentFolder().resolve("spent")),
                            AdmittedWorkers.open(opened.layout().agentFolder().resolve("guests"))),
                    provisioner,
                    receipts,
                    new WorkerAdmission.Threads(decisions, provisioning),
                    clock,
                    environment.metrics());
            resources.push(admission::close);
            this.workers = createAllocator(signing, receipts);
            this.tickets = TicketStreamClient.ofController(
                    () -> certificate.ticketSigner(signing), trust.siteTrust()::onWelcome);
            LocalQueue queue = LocalQueue.start(
                    config, workers, journal, environment.metrics(), e -> shutdown.shutDown("the queue failed: " + e));
            resources.push(queue::close);
            this.gateway = services.startSshGateway(trust.trustStore(), members, signing);
            startPeriodicTasks(provisioner, receipts, filter);
            done = true;
        } finally {
            if (!done) {
                close();
            }
        }
    }

    /**
     * Starts the project.
     *
     * @throws IOException if a part does not start; the parts before it are closed
     */
    static RunningProject start(
            ControllerEnvironment environment,
            OpenedProject opened,
            BootKeyPairs keys,
            CertificateName name,
            TrustSources trust,
            VmShutdown shutdown)
            throws IOException {
        return new RunningProject(environment, opened, keys, name, trust, shutdown);
    }

    /** Uses a channel to the host, and through it the relay. */
    void onAttached(AgentAttachStream attachment) {
        tickets.attach(attachment.link(), workers);
    }

    /** Accepts a connection that claims to be a worker or a person. */
    void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
        if (SshGateway.isPerson(dial.from())) {
            gateway.onDial(attachment, dial);
        } else {
            admission.onDial(attachment, dial);
        }
    }

    @Override
    public void close() {
        resources.close();
    }

    /** Returns the project's settings, with folders on its drive and the settings that this machine fixes. */
    private static ControllerConfig controllerConfig(ControllerEnvironment environment, OpenedProject opened) {
        return new ControllerConfig(
                opened.projectConfig().settings(),
                environment.machineSettings(),
                new ProjectFolders(
                        opened.layout().agentFolder(),
                        environment.run(),
                        new ProjectConfigStore(opened.layout().projectConfigFolder()).membersFile(),
                        opened.layout().homes()));
    }

    private ProjectMembers members() {
        return opened.projectConfig().members();
    }

    private WorkerProvisioner createProvisioner(
            SystemWorkerAccess access, WorkerProvisioner.TicketOwners owners, ProjectMembers members, MungeKey munge) {
        VerifiedUnlock unlocked = opened.unlocked();
        String homes = opened.layout().homes().toString();
        String software = opened.layout().software().toString();
        return new WorkerProvisioner(
                new WorkerProvisioner.Settings(
                        name,
                        unlocked.authority(),
                        unlocked.documents().policyHash(),
                        unlocked.networkConfig(),
                        config.slurm().cluster(),
                        SLURMCTLD_PORT,
                        homes,
                        List.of(
                                new WorkerMount(new FolderPath("/home"), new FolderPath(homes), false),
                                new WorkerMount(new FolderPath("/software"), new FolderPath(software), true)),
                        HandoverDocument.LEASE),
                access,
                owners,
                () -> members,
                new WorkerProvisioner.KeySealing(new Hpke(environment.crypto()), munge.secret()),
                clock);
    }

    private AdmissionContext admissionContext(TrustSources trust) {
        return new AdmissionContext(
                certificate::credential,
                trust.trustStore(),
                trust.siteTrust()::verifyAllocation,
                opened.unlocked().documents().policy(),
                new AdmissionContext.HostTrust(trust.siteTrust()::isUntrusted, trust.siteTrust()::isKeyRevoked),
                false);
    }

    private ReceiptCollector openReceipts(SigningKey signing, SiteTrust siteTrust) throws IOException {
        return ReceiptCollector.open(
                new ReceiptCollector.ReceiptSigner(
                        name.project(),
                        opened.unlocked().epoch(),
                        signing,
                        certificate::chain,
                        opened.unlocked().documents().history().envelopes()),
                siteTrust::trustedRelay,
                opened.layout().agentFolder().resolve("receipts"),
                opened.layout().receipts(),
                clock);
    }

    private SiteWorkerAllocator createAllocator(SigningKey signing, ReceiptCollector receipts) throws IOException {
        return new SiteWorkerAllocator(
                new SiteWorkerAllocator.Settings(
                        name.project(), signing, config.project().reserves(), WORKER_SHUTDOWN_LIMIT),
                TicketFolder.open(
                        opened.layout().agentFolder().resolve("tickets"),
                        opened.unlocked().epoch()),
                admission,
                receipts,
                decisions,
                clock);
    }

    private void startPeriodicTasks(WorkerProvisioner provisioner, ReceiptCollector receipts, FilterStateFile filter) {
        FilterRefusalMetrics filterMetrics = new FilterRefusalMetrics(filter, environment.metrics());
        decisions.scheduleWithFixedDelay(
                new PeriodicTasks(List.of(
                        () -> opened.driveLostReason().ifPresent(shutdown::cutPower),
                        () -> provisioning.execute(provisioner::retryRevocations),
                        receipts::issueDue,
                        filterMetrics::update)),
                TASK_INTERVAL.toSeconds(),
                TASK_INTERVAL.toSeconds(),
                TimeUnit.SECONDS);
    }
}
