package org.cloister.vm.controller;

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
import org.cloister.ipsec.DerCertificate;
import org.cloister.ipsec.TunnelIdentity;
import org.cloister.ipsec.TunnelPlan;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.IkeTrustAnchors;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.controller.config.ControllerConfig;
import org.cloister.vm.controller.daemons.LocalSlurmConfigFiles;
import org.cloister.vm.controller.daemons.LocalSlurmDaemons;
import org.cloister.vm.controller.daemons.LocalSlurmPlan;
import org.cloister.vm.controller.daemons.MungeKey;
import org.cloister.vm.controller.daemons.SlurmFilterUnit;
import org.cloister.vm.controller.jobsubmit.JobSubmitPlugin;
import org.cloister.vm.controller.members.MemberAccounts;
import org.cloister.vm.controller.members.MemberHomes;
import org.cloister.vm.controller.members.SlurmAssociations;
import org.cloister.vm.controller.slurm.LocalSlurmConf;
import org.cloister.vm.controller.ssh.ExportLog;
import org.cloister.vm.controller.ssh.SessionEnvironment;
import org.cloister.vm.controller.ssh.SshGateway;
import org.cloister.vm.controller.ssh.SystemdSshdLauncher;
import org.cloister.vm.controller.storage.NfsExports;
import org.cloister.vm.controller.storage.NfsServer;
import org.cloister.vm.rpcfilter.FilterStateFile;
import org.cloister.vm.system.daemon.ChronyDaemon;
import org.cloister.vm.system.daemon.DaemonAccount;
import org.cloister.vm.system.daemon.MungeDaemon;
import org.cloister.vm.system.names.MachineNames;
import org.cloister.vm.system.names.NodeAddresses;
import org.cloister.vm.system.tunnel.CharonDaemon;
import org.cloister.vm.system.tunnel.LockedPrivateKey;
import org.cloister.vm.system.tunnel.ProjectTunnels;
import org.cloister.vm.system.users.PasswdFiles;
import org.cloister.vm.system.users.ProjectMembers;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts what a project needs of its controlling VM's machine: tunnels, time, the Local Slurm's daemons, storage and
 * people's sessions.
 */
@SuppressWarnings("FutureReturnValueIgnored") // failures are logged where they occur
final class ProjectServices implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ProjectServices.class);
    /** Release number of the submit plugin's data. */
    private static final int RELEASE = 1;

    private static final String SESSIONS = "cloister-session.socket";
    private static final Path SESSION_FOLDERS = Path.of("/run/cloister-sessions");
    private static final Path SESSION_SCRIPTS = Path.of("/usr/libexec/cloister");
    private static final Duration ANSWER = Duration.ofMinutes(3);
    private static final Duration FILTER = Duration.ofMinutes(1);
    private static final Duration RENEWAL = Duration.ofHours(8);

    private final ControllerEnvironment equipment;
    private final OpenedProject foundation;
    private final BootKeyPairs keys;
    private final ControllerCertificate own;
    private final CertificateName name;
    private final ControllerConfig config;
    private final ScheduledExecutorService decisions;
    private final InstantSource clock = InstantSource.system();
    private final ResourceStack parts = new ResourceStack();

    /** @param decisions runs periodic tasks, such as the renewal of the certificate */
    ProjectServices(
            ControllerEnvironment equipment,
            OpenedProject foundation,
            BootKeyPairs keys,
            ControllerCertificate own,
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

    ProjectTunnels startTunnels() throws IOException {
        CharonDaemon charon =
                new CharonDaemon(equipment.programs(), equipment.run().resolve("charon"), equipment.esp());
        charon.start();
        parts.push(charon::stop);
        SecretMemory pkcs8 = keys.signing(equipment.crypto().secrets());
        parts.push(pkcs8::close);
        List<DerCertificate> authorities = new ArrayList<>();
        List<byte[]> verified = foundation.unlocked().authority().issuerChain().subList(0, 1);
        for (byte[] each : IkeTrustAnchors.create(name.project(), clock.instant(), new SecureRandom())
                .certificatesFor(verified)) {
            authorities.add(DerCertificate.parse(each));
        }
        ProjectTunnels tunnels = ProjectTunnels.open(
                charon.socket(),
                TunnelPlan.of(
                        TunnelIdentity.controller(name.id(), name.project()),
                        foundation.network().own(),
                        own.ike(new LockedPrivateKey(pkcs8)),
                        authorities,
                        equipment.esp()),
                event -> LOG.info("tunnel {}", event));
        parts.push(tunnels::close);
        decisions.scheduleWithFixedDelay(
                new PeriodicTasks(List.of(() -> renew(tunnels, pkcs8))),
                RENEWAL.toSeconds(),
                RENEWAL.toSeconds(),
                TimeUnit.SECONDS);
        return tunnels;
    }

    /**
     * Starts munged, the Local Slurm's daemons and the RPC filter.
     *
     * @return state of the filter: whether workers reach slurmctld, and what was refused to them
     */
    FilterStateFile startSlurm(MungeKey munge, ProjectMembers members) throws IOException {
        LocalSlurmPlan plan = new LocalSlurmPlan(
                config.localSlurmConf(
                        name.id(),
                        foundation.network().own().toString(),
                        foundation.layout().slurmState(),
                        LocalSlurmPlan.HOOKS),
                foundation.layout());
        new MachineNames(equipment.programs(), equipment.etc())
                .write(new NodeAddresses(
                        name.id(), Map.of(name.id(), foundation.network().own())));
        MungeDaemon munged = new MungeDaemon(equipment.services(), equipment.run());
        parts.push(munged::stop);
        munged.start(
                equipment.crypto().secrets(),
                munge.secret(),
                DaemonAccount.of(equipment.etc().resolve("passwd"), "munge"));
        LocalSlurmConfigFiles files = new LocalSlurmConfigFiles(plan, equipment.etc());
        DaemonAccount daemons = DaemonAccount.of(equipment.etc().resolve("passwd"), LocalSlurmConf.ACCOUNT);
        files.write(daemons);
        files.createNotifyFile(config.notifyFile(), daemons);
        new JobSubmitPlugin(
                        LocalSlurmPlan.HOOKS.resolve("job_submit.lua"),
                        files.submitPlugin(),
                        config.slurm().program(),
                        clock)
                .deploy(config.submitPluginData(RELEASE));
        LocalSlurmDaemons cluster = new LocalSlurmDaemons(equipment.programs(), equipment.services(), plan, ANSWER);
        parts.push(() -> {
            List<String> left = cluster.stop();
            if (!left.isEmpty()) {
                throw new IOException("daemons: want all ended, have " + left);
            }
        });
        MemberAccounts enrolment = new MemberAccounts(
                new SlurmAssociations(config.slurm().program(), config.slurm().cluster()),
                new MemberHomes(foundation.layout().homes(), 0),
                new PasswdFiles(equipment.etc(), foundation.layout().homes()));
        SlurmFilterUnit filter = new SlurmFilterUnit(
                equipment.programs(), equipment.services(), foundation.network(), equipment.run(), equipment.etc());
        filter.closePort();
        cluster.start(() -> enrolment.create(members));
        parts.push(filter::stop);
        filter.start(FILTER);
        return filter.state();
    }

    /** Starts the time server that workers follow; its only source is the time that the opener sent. */
    void startTimeServer() throws IOException {
        ChronyDaemon chronyd = ChronyDaemon.server(
                equipment.programs(),
                equipment.run().resolve("time"),
                foundation.network().own().toString(),
                foundation.unlocked().station().network().toString());
        parts.push(chronyd::stop);
        chronyd.start();
    }

    NfsExports startStorage() throws IOException {
        NfsServer server = new NfsServer(
                equipment.programs(),
                foundation.network().own(),
                foundation.layout().nfsState(),
                equipment.run());
        parts.push(server::stop);
        server.start();
        NfsExports exports =
                new NfsExports(equipment.programs(), foundation.layout().root());
        exports.reconcile(List.of());
        return exports;
    }

    /** Starts the SSH gateway, last, when everything that people work with is there. */
    SshGateway startSshGateway(TrustStore beliefs, ProjectMembers members, SigningKey signing) throws IOException {
        ExportLog exports = ExportLog.open(
                foundation.layout().exportLog(), name, signing, own.credential().chain(), clock);
        parts.push(exports::close);
        equipment.services().start(SESSIONS, "");
        parts.push(() -> equipment.services().stop(SESSIONS));
        SshGateway desk = new SshGateway(
                new SshGateway.Context(own::credential, beliefs, () -> members),
                SessionEnvironment.create(
                        equipment.programs(),
                        equipment.run().resolve("ssh"),
                        SESSION_FOLDERS,
                        SESSION_SCRIPTS,
                        foundation.layout().homes()),
                new SystemdSshdLauncher(equipment.run().resolve("sessions.socket")),
                exports,
                equipment.metrics());
        parts.push(desk::close);
        return desk;
    }

    private void renew(ProjectTunnels tunnels, SecretMemory pkcs8) {
        try {
            own.renew(clock.instant());
            tunnels.renew(own.ike(new LockedPrivateKey(pkcs8)));
        } catch (IOException e) {
            LOG.error("own certificate: not renewed, and tried again: {}", e.getMessage());
        }
    }

    /** Stops the services in reverse order of their start. */
    @Override
    public void close() {
        parts.close();
    }
}
