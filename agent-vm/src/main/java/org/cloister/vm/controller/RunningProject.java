package org.cloister.vm.controller;

import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
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
import org.cloister.vm.boot.BootKeyPairs;
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
import org.cloister.vm.controller.tickets.RelayTicketConnection;
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
 * makes all decisions. Parts are closed in reverse order of their start.
 */
@SuppressWarnings("FutureReturnValueIgnored") // failures are logged where they occur
final class RunningProject implements AutoCloseable {
    private static final int SLURMCTLD_PORT = 6817;
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration RETRY = Duration.ofSeconds(30);

    private final ControllerEnvironment equipment;
    private final OpenedProject foundation;
    private final CertificateName name;
    private final VmShutdown ending;
    private final InstantSource clock = InstantSource.system();
    private final ScheduledExecutorService decisions =
            Executors.newSingleThreadScheduledExecutor(task -> new Thread(task, "decisions"));
    private final ResourceStack parts = new ResourceStack();
    private final ControllerConfig config;
    private final ControllerCertificate own;
    private final WorkerAdmission desk;
    private final RelayTicketConnection line;
    private final SshGateway access;

    /** The trust of a controlling VM in its workers' certificates and in its site. */
    record TrustSources(TrustStore trustStore, SiteTrust siteTrust) {}

    private RunningProject(
            ControllerEnvironment equipment,
            OpenedProject foundation,
            BootKeyPairs keys,
            CertificateName name,
            TrustSources believing,
            VmShutdown ending)
            throws IOException {
        this.equipment = equipment;
        this.foundation = foundation;
        this.name = name;
        this.ending = ending;
        this.config = onDrive(equipment, foundation);
        this.own = new ControllerCertificate(name, foundation.unlocked().authority(), keys, clock.instant());
        parts.push(decisions::shutdownNow);
        ProjectServices machine = new ProjectServices(equipment, foundation, keys, own, config, decisions);
        parts.push(machine::close);
        boolean done = false;
        try {
            ProjectMembers members = members();
            ProjectTunnels tunnels = machine.startTunnels();
            machine.startTimeServer();
            MungeKey munge = MungeKey.generate(equipment.crypto().secrets());
            parts.push(munge::close);
            FilterStateFile filter = machine.startSlurm(munge, members);
            NfsExports exports = machine.startStorage();
            QueueJournal journal = LocalQueue.openJournal(config);
            parts.push(journal::close);
            WorkerProvisioner provisioner = provisioner(
                    new SystemWorkerAccess(foundation.uplink(), tunnels, exports, foundation.network()),
                    journal::ownerOf,
                    members,
                    munge);
            SigningKey signing = keys.signer();
            ReceiptCollector receipts = receipts(signing, believing.siteTrust());
            this.desk = new WorkerAdmission(
                    terms(believing),
                    new WorkerAdmission.Stores(
                            HandoverLedger.open(
                                    foundation.layout().agentFolder().resolve("spent")),
                            AdmittedWorkers.open(
                                    foundation.layout().agentFolder().resolve("guests"))),
                    provisioner,
                    receipts,
                    decisions,
                    clock,
                    equipment.metrics());
            parts.push(desk::close);
            SiteWorkerAllocator workers = workers(signing, receipts);
            this.line =
                    new RelayTicketConnection(() -> own.speaker(signing), believing.siteTrust()::onWelcome, workers);
            LocalQueue queue = LocalQueue.start(
                    config, workers, journal, equipment.metrics(), e -> ending.shutDown("the queue is broken: " + e));
            parts.push(queue::close);
            this.access = machine.startSshGateway(believing.trustStore(), members, signing);
            keep(provisioner, receipts, filter);
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
            ControllerEnvironment equipment,
            OpenedProject foundation,
            BootKeyPairs keys,
            CertificateName name,
            TrustSources believing,
            VmShutdown ending)
            throws IOException {
        return new RunningProject(equipment, foundation, keys, name, believing, ending);
    }

    /** Uses a channel to the host, and through it the relay. */
    void onAttached(AgentAttachStream attachment) {
        line.attach(attachment.link());
    }

    /** Accepts a connection that claims to be a worker or a person. */
    void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
        if (SshGateway.isPerson(dial.from())) {
            access.onDial(attachment, dial);
        } else {
            desk.onDial(attachment, dial);
        }
    }

    @Override
    public void close() {
        parts.close();
    }

    /** Returns the project's settings, with folders on its drive and the settings that this machine fixes. */
    private static ControllerConfig onDrive(ControllerEnvironment equipment, OpenedProject foundation) {
        return new ControllerConfig(
                foundation.projectConfig().settings(),
                equipment.machineSettings(),
                new ProjectFolders(
                        foundation.layout().agentFolder(),
                        equipment.run(),
                        new ProjectConfigStore(foundation.layout().projectConfigFolder()).membersFile(),
                        foundation.layout().homes()));
    }

    private ProjectMembers members() {
        return foundation.projectConfig().members();
    }

    private WorkerProvisioner provisioner(
            SystemWorkerAccess access, WorkerProvisioner.TicketOwners owners, ProjectMembers members, MungeKey munge) {
        VerifiedUnlock unlocked = foundation.unlocked();
        String homes = foundation.layout().homes().toString();
        String software = foundation.layout().software().toString();
        return new WorkerProvisioner(
                new WorkerProvisioner.Settings(
                        name,
                        unlocked.authority(),
                        unlocked.documents().policyHash(),
                        unlocked.station(),
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
                new WorkerProvisioner.KeySealing(new Hpke(equipment.crypto()), munge.secret()),
                clock);
    }

    private WorkerAdmission.Context terms(TrustSources believing) {
        return new WorkerAdmission.Context(
                own::credential,
                believing.trustStore(),
                believing.siteTrust()::verifyAllocation,
                foundation.unlocked().documents().policy(),
                new WorkerAdmission.HostTrust(believing.siteTrust()::isUntrusted, believing.siteTrust()::isKeyRevoked),
                false);
    }

    private ReceiptCollector receipts(SigningKey signing, SiteTrust site) throws IOException {
        return ReceiptCollector.open(
                new ReceiptCollector.ReceiptSigner(
                        name.project(),
                        foundation.unlocked().epoch(),
                        signing,
                        own::chain,
                        foundation.unlocked().documents().history().envelopes()),
                site::trustedRelay,
                foundation.layout().agentFolder().resolve("receipts"),
                foundation.layout().receipts(),
                clock);
    }

    private SiteWorkerAllocator workers(SigningKey signing, ReceiptCollector receipts) throws IOException {
        return new SiteWorkerAllocator(
                new SiteWorkerAllocator.Settings(
                        name.project(), signing, config.project().reserves(), PATIENCE),
                TicketFolder.open(
                        foundation.layout().agentFolder().resolve("tickets"),
                        foundation.unlocked().epoch()),
                desk,
                receipts,
                decisions,
                clock);
    }

    private void keep(WorkerProvisioner provisioner, ReceiptCollector receipts, FilterStateFile filter) {
        FilterRefusalMetrics refused = new FilterRefusalMetrics(filter, equipment.metrics());
        decisions.scheduleWithFixedDelay(
                new PeriodicTasks(List.of(
                        () -> foundation.driveLostReason().ifPresent(ending::cutPower),
                        provisioner::retryRevocations,
                        receipts::issueDue,
                        refused::update)),
                RETRY.toSeconds(),
                RETRY.toSeconds(),
                TimeUnit.SECONDS);
    }
}
