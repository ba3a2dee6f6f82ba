package org.cloister.vm.run;

import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.cloister.luks.key.Hpke;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.handover.FolderPath;
import org.cloister.protocol.handover.HandOver;
import org.cloister.protocol.handover.Mount;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.vm.ControllerConfig;
import org.cloister.vm.LocalQueue;
import org.cloister.vm.ProjectFolders;
import org.cloister.vm.access.AccessDesk;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.cluster.MungeKey;
import org.cloister.vm.handover.GuestBook;
import org.cloister.vm.handover.HandOverDesk;
import org.cloister.vm.handover.SpentBook;
import org.cloister.vm.opening.ProjectFolder;
import org.cloister.vm.opening.Unlocked;
import org.cloister.vm.provision.MachineAccess;
import org.cloister.vm.provision.Provisioner;
import org.cloister.vm.receipt.Receipts;
import org.cloister.vm.rpcfilter.FilterState;
import org.cloister.vm.storage.Exports;
import org.cloister.vm.ticket.OfficeLine;
import org.cloister.vm.ticket.Site;
import org.cloister.vm.ticket.SiteWorkers;
import org.cloister.vm.ticket.TicketBook;
import org.cloister.vm.tunnel.ProjectTunnels;
import org.cloister.vm.users.Members;

/**
 * A project at work in its controlling VM: tunnels, storage and the Local Slurm, and the queue, tickets and workers, of which
 * all is decided on one thread. Parts are ended in the other order than they began.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails is said where it fails
final class RunningProject implements AutoCloseable {
    private static final int SLURMCTLD_PORT = 6817;
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration RETRY = Duration.ofSeconds(30);

    private final Equipment equipment;
    private final Foundation foundation;
    private final Name name;
    private final Ending ending;
    private final InstantSource clock = InstantSource.system();
    private final ScheduledExecutorService decisions =
            Executors.newSingleThreadScheduledExecutor(task -> new Thread(task, "decisions"));
    private final Parts parts = new Parts();
    private final ControllerConfig config;
    private final OwnCertificate own;
    private final HandOverDesk desk;
    private final OfficeLine line;
    private final AccessDesk access;

    /** Whom a controlling VM takes for a worker, and for its site. */
    record Believing(Beliefs beliefs, Site site) {}

    private RunningProject(
            Equipment equipment,
            Foundation foundation,
            BootKeyPairs keys,
            Name name,
            Believing believing,
            Ending ending)
            throws IOException {
        this.equipment = equipment;
        this.foundation = foundation;
        this.name = name;
        this.ending = ending;
        this.config = onDrive(equipment, foundation);
        this.own = new OwnCertificate(name, foundation.unlocked().authority(), keys, clock.instant());
        parts.push(decisions::shutdownNow);
        ProjectMachine machine = new ProjectMachine(equipment, foundation, keys, own, config, decisions);
        parts.push(machine::close);
        boolean done = false;
        try {
            Members members = members();
            ProjectTunnels tunnels = machine.tunnels();
            machine.time();
            MungeKey munge = MungeKey.make(equipment.crypto().secrets());
            parts.push(munge::close);
            FilterState filter = machine.cluster(munge, members);
            Exports exports = machine.storage();
            CompletableFuture<LocalQueue> queued = new CompletableFuture<>();
            Provisioner provisioner = provisioner(
                    new MachineAccess(foundation.uplink(), tunnels, exports, foundation.network()),
                    ticket -> queued.join().ownerOf(ticket),
                    members,
                    munge);
            SigningKey signing = keys.signer();
            Receipts receipts = receipts(signing, believing.site());
            CompletableFuture<SiteWorkers> told = new CompletableFuture<>();
            this.desk = new HandOverDesk(
                    terms(believing),
                    new HandOverDesk.Books(
                            SpentBook.open(foundation.layout().agent().resolve("spent")),
                            GuestBook.open(foundation.layout().agent().resolve("guests"))),
                    provisioner,
                    receipts,
                    decisions,
                    clock,
                    new HandOverDesk.Reports(event -> told.join().tell(event), equipment.metrics()::stranger));
            parts.push(desk::close);
            SiteWorkers workers = workers(signing, receipts);
            told.complete(workers);
            this.line = new OfficeLine(() -> own.speaker(signing), believing.site()::welcomed, workers);
            LocalQueue queue = LocalQueue.start(
                    config, workers, equipment.metrics(), e -> ending.end("the queue is broken: " + e));
            parts.push(queue::close);
            queued.complete(queue);
            this.access = machine.access(believing.beliefs(), members, signing);
            keep(provisioner, receipts, filter);
            done = true;
        } finally {
            if (!done) {
                close();
            }
        }
    }

    /** @throws IOException if a part does not come up; those before it are ended */
    static RunningProject start(
            Equipment equipment,
            Foundation foundation,
            BootKeyPairs keys,
            Name name,
            Believing believing,
            Ending ending)
            throws IOException {
        return new RunningProject(equipment, foundation, keys, name, believing, ending);
    }

    /** A channel to the host, and through it to the relay. */
    void attached(Attachment attachment) {
        line.enter(attachment.link());
    }

    /** A worker calls, or a person. */
    void dialled(Attachment attachment, RelayMessage.Dial dial) {
        if (AccessDesk.isPerson(dial.from())) {
            access.dialled(attachment, dial);
        } else {
            desk.dialled(attachment, dial);
        }
    }

    @Override
    public void close() {
        parts.close();
    }

    /** The project's settings, on its drive's folders, with what this machine fixes. */
    private static ControllerConfig onDrive(Equipment equipment, Foundation foundation) {
        return new ControllerConfig(
                foundation.standing().settings(),
                equipment.machine(),
                new ProjectFolders(
                        foundation.layout().agent(),
                        equipment.run(),
                        new ProjectFolder(foundation.layout().project()).members(),
                        foundation.layout().homes()));
    }

    private Members members() {
        return foundation.standing().members();
    }

    private Provisioner provisioner(MachineAccess access, Provisioner.Owners owners, Members members, MungeKey munge) {
        Unlocked unlocked = foundation.unlocked();
        String homes = foundation.layout().homes().toString();
        String software = foundation.layout().software().toString();
        return new Provisioner(
                new Provisioner.Terms(
                        name,
                        unlocked.authority(),
                        unlocked.papers().hash(),
                        unlocked.station(),
                        config.slurm().cluster(),
                        SLURMCTLD_PORT,
                        homes,
                        List.of(
                                new Mount(new FolderPath("/home"), new FolderPath(homes), false),
                                new Mount(new FolderPath("/software"), new FolderPath(software), true)),
                        HandOver.LEASE),
                access,
                owners,
                () -> members,
                new Provisioner.Sealing(new Hpke(equipment.crypto()), munge.secret()),
                clock);
    }

    private HandOverDesk.Terms terms(Believing believing) {
        return new HandOverDesk.Terms(
                own::credential,
                believing.beliefs(),
                envelope -> opened(believing.site(), envelope),
                foundation.unlocked().papers().policy(),
                new HandOverDesk.Hosts(believing.site()::isRevoked, believing.site()::isTakenBack),
                false);
    }

    private Allocation opened(Site site, byte[] envelope) throws IOException {
        try {
            return site.open(envelope);
        } catch (IOException e) {
            equipment.metrics().allocationRefused();
            throw e;
        }
    }

    private Receipts receipts(SigningKey signing, Site site) throws IOException {
        return Receipts.open(
                new Receipts.Self(
                        name.project(),
                        foundation.unlocked().epoch(),
                        signing,
                        own::chain,
                        foundation.unlocked().papers().project().envelopes()),
                site::relay,
                foundation.layout().agent().resolve("receipts"),
                foundation.layout().receipts(),
                clock);
    }

    private SiteWorkers workers(SigningKey signing, Receipts receipts) throws IOException {
        return new SiteWorkers(
                new SiteWorkers.Terms(name.project(), signing, config.project().reserves(), PATIENCE),
                TicketBook.open(
                        foundation.layout().agent().resolve("tickets"),
                        foundation.unlocked().epoch()),
                desk,
                receipts,
                decisions,
                clock);
    }

    private void keep(Provisioner provisioner, Receipts receipts, FilterState filter) {
        RefusedByFilter refused = new RefusedByFilter(filter, equipment.metrics());
        decisions.scheduleWithFixedDelay(
                new Rounds(List.of(
                        () -> foundation.lost().ifPresent(ending::cut),
                        provisioner::retry,
                        receipts::look,
                        refused::count)),
                RETRY.toSeconds(),
                RETRY.toSeconds(),
                TimeUnit.SECONDS);
    }
}
