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
    /**
     * Covers the tables of a new drive, and MariaDB's recovery of them after a power cut, on storage that others use as
     * well. No command of Slurm or MariaDB has less in the start: what is cut off ends the VM.
     */
    private static final Duration RESPONSE_LIMIT = Duration.ofMinutes(10);

    private static final Duration FILTER_LIMIT = Duration.ofMinutes(1);
    private static final Duration RENEWAL = Duration.ofHours(8);

    private final ControllerEnvironment environment;
    private final OpenedProject opened;
    private final BootKeyPairs keys;
    private final ControllerCertificate certificate;
    private final CertificateName name;
    private final ControllerConfig config;
    private final ScheduledExecutorService decisions;
    private final InstantSource clock = InstantSource.system();
    private final ResourceStack resources = new ResourceStack();

    /** @param decisions runs periodic tasks, such as the renewal of the certificate */
    ProjectServices(
            ControllerEnvironment environment,
            OpenedProject opened,
            BootKeyPairs keys,
            ControllerCertificate certificate,
            ControllerConfig config,
            ScheduledExecutorService decisions) {
        this.environment = environment;
        this.opened = opened;
        this.keys = keys;
        this.certificate = certificate;
        this.name = certificate.name();
        this.config = config;
        this.decisions = decisions;
    }

    ProjectTunnels startTunnels() throws IOException {
        CharonDaemon charon =
                new CharonDaemon(environment.programs(), environment.run().resolve("charon"), environment.esp());
        charon.start();
        resources.push(charon::stop);
        SecretMemory pkcs8 = keys.signingPkcs8();
        resources.push(pkcs8::close);
        List<DerCertificate> authorities = new ArrayList<>();
        List<byte[]> verified = opened.unlocked().authority().issuerChain().subList(0, 1);
        for (byte[] each : IkeTrustAnchors.create(name.project(), clock.instant(), new SecureRandom())
                .certificatesFor(verified)) {
            authorities.add(DerCertificate.parse(each));
        }
        ProjectTunnels tunnels = ProjectTunnels.open(
                charon.socket(),
                TunnelPlan.of(
                        TunnelIdentity.controller(name.id(), name.project()),
                        opened.network().own(),
                        certificate.tunnelCredential(new LockedPrivateKey(pkcs8)),
                        authorities,
                        environment.esp()),
                event -> LOG.info("tunnel {}", event));
        resources.push(tunnels::close);
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
                        opened.network().own().toString(),
                        opened.layout().slurmState(),
                        LocalSlurmPlan.HOOKS),
                opened.layout());
        new MachineNames(environment.programs(), environment.etc())
                .write(new NodeAddresses(
                        name.id(), Map.of(name.id(), opened.network().own())));
        MungeDaemon munged = new MungeDaemon(environment.services(), environment.run());
        resources.push(munged::stop);
        munged.start(
                environment.crypto().secrets(),
                munge.secret(),
                DaemonAccount.of(environment.etc().resolve("passwd"), "munge"));
        LocalSlurmConfigFiles configFiles = new LocalSlurmConfigFiles(plan, environment.etc());
        DaemonAccount daemons = DaemonAccount.of(environment.etc().resolve("passwd"), LocalSlurmConf.ACCOUNT);
        configFiles.write(daemons);
        configFiles.createNotifyFile(config.notifyFile(), daemons);
        new JobSubmitPlugin(
                        LocalSlurmPlan.HOOKS.resolve("job_submit.lua"),
                        configFiles.submitPlugin(),
                        config.slurm().program(),
                        clock)
                .deploy(config.submitPluginData(RELEASE));
        LocalSlurmDaemons cluster =
                new LocalSlurmDaemons(environment.programs(), environment.services(), plan, RESPONSE_LIMIT);
        resources.push(() -> {
            List<String> running = cluster.stop();
            if (!running.isEmpty()) {
                throw new IOException("daemons still running: " + running);
            }
        });
        MemberAccounts accounts = new MemberAccounts(
                new SlurmAssociations(
                        config.slurm().program(RESPONSE_LIMIT), config.slurm().cluster()),
                new MemberHomes(opened.layout().homes(), 0),
                new PasswdFiles(environment.etc(), opened.layout().homes()));
        SlurmFilterUnit filter = new SlurmFilterUnit(
                environment.programs(), environment.services(), opened.network(), environment.run(), environment.etc());
        filter.closePort();
        cluster.start(() -> accounts.create(members));
        resources.push(filter::stop);
        filter.start(FILTER_LIMIT);
        return filter.state();
    }

    /** Starts the time server that workers follow; its only source is the time that the opener sent. */
    void startTimeServer() throws IOException {
        ChronyDaemon chronyd =
                new ChronyDaemon(environment.programs(), environment.run().resolve("time"));
        resources.push(chronyd::stop);
        chronyd.startServer(
                opened.network().own().toString(),
                opened.unlocked().networkConfig().network().toString());
    }

    NfsExports startStorage() throws IOException {
        NfsServer server = new NfsServer(
                environment.programs(), opened.network().own(), opened.layout().nfsState(), environment.run());
        resources.push(server::stop);
        server.start();
        NfsExports exports =
                new NfsExports(environment.programs(), opened.layout().root());
        exports.reconcile(List.of());
        return exports;
    }

    /** Starts the SSH gateway, last, when everything that people work with is there. */
    SshGateway startSshGateway(TrustStore trustStore, ProjectMembers members, SigningKey signing) throws IOException {
        ExportLog exports = ExportLog.open(
                opened.layout().exportLog(),
                name,
                signing,
                certificate.credential().chain(),
                clock);
        resources.push(exports::close);
        environment.services().start(SESSIONS, "");
        resources.push(() -> environment.services().stop(SESSIONS));
        SshGateway gateway = new SshGateway(
                new SshGateway.Context(certificate::credential, trustStore, () -> members),
                SessionEnvironment.create(
                        environment.programs(),
                        environment.run().resolve("ssh"),
                        SESSION_FOLDERS,
                        SESSION_SCRIPTS,
                        opened.layout().homes()),
                new SystemdSshdLauncher(environment.run().resolve("sessions.socket")),
                exports,
                environment.metrics());
        resources.push(gateway::close);
        return gateway;
    }

    private void renew(ProjectTunnels tunnels, SecretMemory pkcs8) {
        try {
            certificate.renew(clock.instant());
            tunnels.renew(certificate.tunnelCredential(new LockedPrivateKey(pkcs8)));
        } catch (IOException e) {
            LOG.error("own certificate: cannot be renewed: {}; retrying", e.getMessage());
        }
    }

    /** Stops the services in reverse order of their start. */
    @Override
    public void close() {
        resources.close();
    }
}
