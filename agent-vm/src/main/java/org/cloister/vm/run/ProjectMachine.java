package org.cloister.vm.run;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.cloister.ipsec.Certificate;
import org.cloister.ipsec.Identity;
import org.cloister.ipsec.Plan;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.IkeAnchors;
import org.cloister.protocol.identity.Name;
import org.cloister.vm.ControllerConfig;
import org.cloister.vm.access.AccessDesk;
import org.cloister.vm.access.ExportLog;
import org.cloister.vm.access.Place;
import org.cloister.vm.access.UnitLauncher;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.cluster.Cluster;
import org.cloister.vm.cluster.ClusterFiles;
import org.cloister.vm.cluster.ClusterPlan;
import org.cloister.vm.cluster.MungeKey;
import org.cloister.vm.cluster.SlurmFilter;
import org.cloister.vm.machine.Chronyd;
import org.cloister.vm.machine.DaemonAccount;
import org.cloister.vm.machine.Munged;
import org.cloister.vm.names.MachineNames;
import org.cloister.vm.names.NodeAddresses;
import org.cloister.vm.plugin.SubmitPlugin;
import org.cloister.vm.rpcfilter.FilterState;
import org.cloister.vm.slurm.LocalConfiguration;
import org.cloister.vm.storage.Exports;
import org.cloister.vm.storage.NfsServer;
import org.cloister.vm.tunnel.Charon;
import org.cloister.vm.tunnel.LockedKey;
import org.cloister.vm.tunnel.ProjectTunnels;
import org.cloister.vm.users.Associations;
import org.cloister.vm.users.Enrolment;
import org.cloister.vm.users.Homes;
import org.cloister.vm.users.Members;
import org.cloister.vm.users.NameFiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a project needs of its controlling VM's machine: tunnels, time, the Local Slurm's daemons, storage, sessions of persons. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails is said where it fails
final class ProjectMachine implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ProjectMachine.class);
    /** Of the submit plugin's data. */
    private static final int RELEASE = 1;

    private static final String SESSIONS = "cloister-session.socket";
    private static final Path SESSION_FOLDERS = Path.of("/run/cloister-sessions");
    private static final Path SESSION_SCRIPTS = Path.of("/usr/libexec/cloister");
    private static final Duration ANSWER = Duration.ofMinutes(3);
    private static final Duration FILTER = Duration.ofMinutes(1);
    private static final Duration RENEWAL = Duration.ofHours(8);

    private final Equipment equipment;
    private final Foundation foundation;
    private final BootKeyPairs keys;
    private final OwnCertificate own;
    private final Name name;
    private final ControllerConfig config;
    private final ScheduledExecutorService decisions;
    private final InstantSource clock = InstantSource.system();
    private final Parts parts = new Parts();

    /** @param decisions for what comes again, such as a new certificate */
    ProjectMachine(
            Equipment equipment,
            Foundation foundation,
            BootKeyPairs keys,
            OwnCertificate own,
            ControllerConfig config,
            ScheduledExecutorService decisions) {
        this.equipment = equipment;
        this.foundation = foundation;
        this.keys = keys;
        this.own = own;
        this.name = own.name();
        this.config = config;
        this.decisions = decisions;
    }

    ProjectTunnels tunnels() throws IOException {
        Charon charon = new Charon(equipment.programs(), equipment.run().resolve("charon"), equipment.esp());
        charon.start();
        parts.push(charon::stop);
        SecretMemory pkcs8 = keys.signing(equipment.crypto().secrets());
        parts.push(pkcs8::close);
        List<Certificate> authorities = new ArrayList<>();
        List<byte[]> verified = foundation.unlocked().authority().above().subList(0, 1);
        for (byte[] each : IkeAnchors.begin(name.project(), clock.instant(), new SecureRandom())
                .believing(verified)) {
            authorities.add(Certificate.parse(each));
        }
        ProjectTunnels tunnels = ProjectTunnels.open(
                charon.socket(),
                Plan.of(
                        Identity.controller(name.id(), name.project()),
                        foundation.network().own(),
                        own.ike(new LockedKey(pkcs8)),
                        authorities,
                        equipment.esp()),
                event -> LOG.info("tunnel {}", event));
        parts.push(tunnels::close);
        decisions.scheduleWithFixedDelay(
                new Rounds(List.of(() -> renew(tunnels, pkcs8))),
                RENEWAL.toSeconds(),
                RENEWAL.toSeconds(),
                TimeUnit.SECONDS);
        return tunnels;
    }

    /** @return whether workers reach slurmctld, and what they were refused */
    FilterState cluster(MungeKey munge, Members members) throws IOException {
        ClusterPlan plan = new ClusterPlan(
                config.localConfiguration(
                        name.id(),
                        foundation.network().own().toString(),
                        foundation.layout().slurm(),
                        ClusterPlan.HOOKS),
                foundation.layout());
        new MachineNames(equipment.programs(), equipment.etc())
                .write(new NodeAddresses(
                        name.id(), Map.of(name.id(), foundation.network().own())));
        Munged munged = new Munged(equipment.services(), equipment.run());
        parts.push(munged::stop);
        munged.start(
                equipment.crypto().secrets(),
                munge.secret(),
                DaemonAccount.of(equipment.etc().resolve("passwd"), "munge"));
        ClusterFiles files = new ClusterFiles(plan, equipment.etc());
        DaemonAccount daemons = DaemonAccount.of(equipment.etc().resolve("passwd"), LocalConfiguration.ACCOUNT);
        files.write(daemons);
        files.hangBell(config.bell(), daemons);
        new SubmitPlugin(
                        ClusterPlan.HOOKS.resolve("job_submit.lua"),
                        files.submitPlugin(),
                        config.slurm().program(),
                        clock)
                .lay(config.pluginData(RELEASE));
        Cluster cluster = new Cluster(equipment.programs(), equipment.services(), plan, ANSWER);
        parts.push(() -> {
            List<String> left = cluster.stop();
            if (!left.isEmpty()) {
                throw new IOException("daemons: want all ended, have " + left);
            }
        });
        Enrolment enrolment = new Enrolment(
                new Associations(config.slurm().program(), config.slurm().cluster()),
                new Homes(foundation.layout().homes(), 0),
                new NameFiles(equipment.etc(), foundation.layout().homes()));
        SlurmFilter filter = new SlurmFilter(
                equipment.programs(), equipment.services(), foundation.network(), equipment.run(), equipment.etc());
        filter.closePort();
        cluster.start(() -> enrolment.enter(members));
        parts.push(filter::stop);
        filter.start(FILTER);
        return filter.state();
    }

    /** Workers follow this one's, which follows nobody's but its opener's word. */
    void time() throws IOException {
        Chronyd chronyd = Chronyd.serving(
                equipment.programs(),
                equipment.run().resolve("time"),
                foundation.network().own().toString(),
                foundation.unlocked().station().network().toString());
        parts.push(chronyd::stop);
        chronyd.start();
    }

    Exports storage() throws IOException {
        NfsServer server = new NfsServer(
                equipment.programs(),
                foundation.network().own(),
                foundation.layout().nfs(),
                equipment.run());
        parts.push(server::stop);
        server.start();
        Exports exports = new Exports(equipment.programs(), foundation.layout().root());
        exports.reconcile(List.of());
        return exports;
    }

    /** Persons come when all is there that they would work with. */
    AccessDesk access(Beliefs beliefs, Members members, SigningKey signing) throws IOException {
        ExportLog exports = ExportLog.open(
                foundation.layout().exports(), name, signing, own.credential().chain(), clock);
        parts.push(exports::close);
        equipment.services().start(SESSIONS, "");
        parts.push(() -> equipment.services().stop(SESSIONS));
        AccessDesk desk = new AccessDesk(
                new AccessDesk.Terms(own::credential, beliefs, () -> members),
                Place.make(
                        equipment.programs(),
                        equipment.run().resolve("ssh"),
                        SESSION_FOLDERS,
                        SESSION_SCRIPTS,
                        foundation.layout().homes()),
                new UnitLauncher(equipment.run().resolve("sessions.socket")),
                exports,
                equipment.metrics());
        parts.push(desk::close);
        return desk;
    }

    private void renew(ProjectTunnels tunnels, SecretMemory pkcs8) {
        try {
            own.renew(clock.instant());
            tunnels.renew(own.ike(new LockedKey(pkcs8)));
        } catch (IOException e) {
            LOG.error("own certificate: not renewed, and tried again: {}", e.getMessage());
        }
    }

    /** In the other order than they began. */
    @Override
    public void close() {
        parts.close();
    }
}
