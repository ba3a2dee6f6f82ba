package org.cloister.lab.site;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.cloister.host.drive.SharedDrives;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHome;
import org.cloister.lab.relay.RelaySiteFiles;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.luks.volume.LuksVolume;

/**
 * A site in which projects have running VMs: relay, hosts with agent-host, storage for drives, and the VMs' consoles.
 */
public final class WorkingSite implements AutoCloseable {
    /** Programs that the site runs on its machines, for {@link MarkerSearch#memory}. */
    public static final List<String> DAEMONS = List.of(
            "org.cloister.host.daemon.AgentHostMain",
            "org.cloister.relay.AgentRelayMain",
            "slurmctld",
            "slurmd",
            "slurmdbd",
            "slurmstepd",
            "munged",
            "mariadbd",
            "libvirtd",
            "ovs-vswitchd",
            "ovsdb-server",
            // The process in a job's step that waits for its VM.
            "org.cloister.ctl.Agentctl");

    /** Boot time, long enough under emulation and beside other VMs: the site's time limit never ends a job. */
    private static final Duration BOOT = Duration.ofMinutes(10);

    private final Lab lab;
    private final Path folder;
    private final Path drives;
    private final RelaySiteFiles siteFiles;
    private final SiteRelay relay;
    private final SiteHosts hosts;
    private final VmConsoles consoles;

    private WorkingSite(
            Lab lab,
            Path folder,
            Path drives,
            RelaySiteFiles siteFiles,
            SiteRelay relay,
            SiteHosts hosts,
            VmConsoles consoles) {
        this.lab = lab;
        this.folder = folder;
        this.drives = drives;
        this.siteFiles = siteFiles;
        this.relay = relay;
        this.hosts = hosts;
        this.consoles = consoles;
    }

    /** @param folder is created; for the site's files outside of the lab */
    public static WorkingSite start(Lab lab, Path folder) throws IOException {
        Files.createDirectories(folder);
        Path drives = Files.createTempDirectory(lab.slurm().programs().folder(), "working-drives");
        Files.createFile(drives.resolve(SharedDrives.MARK));
        RelaySiteFiles siteFiles = RelaySiteFiles.create(folder, 0);
        Path agentctl = SiteHosts.agentctl(lab);
        SiteRelay relay = SiteRelay.start(lab, siteFiles, folder, agentctl + " host run", BOOT);
        boolean ready = false;
        try {
            SiteHosts hosts =
                    SiteHosts.start(lab, siteFiles, relay.port(), folder, agentctl, Optional.of(drives), true);
            ready = true;
            return new WorkingSite(lab, folder, drives, siteFiles, relay, hosts, new VmConsoles(lab.hosts()));
        } finally {
            if (!ready) {
                relay.close();
            }
        }
    }

    /** Returns the site's files with the first of its projects. */
    public RelaySiteFiles parties() {
        return siteFiles;
    }

    /** Returns the relay's port on loopback. */
    public int port() {
        return relay.port();
    }

    /** Returns the relay's socket for its administrator. */
    public Path relaySocket() {
        return folder.resolve("s");
    }

    public SiteHosts hosts() {
        return hosts;
    }

    /** Kills the relay with kill -9 and starts it again. */
    public void killRelay() throws IOException {
        relay.kill();
        relay.restart();
    }

    /** Raises a drive's epoch, as root on a host can for a VM that it does not start. */
    public void createDrive(String project, String name, long epoch) throws IOException {
        try (LuksVolume volume = Cryptsetup.load().open(drives.resolve(project).resolve(name + ".img"))) {
            volume.tokens().raiseEpoch(epoch);
        }
    }

    public SiteGuests guests() {
        return new SiteGuests(lab, hosts, consoles);
    }

    public VmConsoles consoles() {
        return consoles;
    }

    public Lab lab() {
        return lab;
    }

    /** Returns arguments for agentctl audit verify: the relay's log in place, and the relay's certificate. */
    public List<String> auditLog() {
        return List.of(
                folder.resolve("state").resolve("audit").toString(),
                "--relay",
                siteFiles.certificate(RelaySiteFiles.RELAY).toString());
    }

    /** Returns the folders in which the site's programs write, including the drives' storage. */
    public List<Path> folders() throws IOException {
        return List.of(
                folder,
                lab.slurm().programs().folder(),
                LabHome.fromEnvironment().folder(lab.name()));
    }

    /** Returns what may show the cause of a failure: the last log lines of all programs. */
    public String explained() throws IOException {
        return "agent-relay:\n" + VmConsoles.last(Files.readString(folder.resolve("agent-relay.log")))
                + "\nagent-host:\n"
                + VmConsoles.last(hosts.logs()) + "\n" + consoles.last() + "\nGlobal Slurm:\n"
                + lab.slurm().client("squeue");
    }

    @Override
    public void close() throws IOException {
        consoles.close();
        relay.close();
        lab.slurm().client("scancel", "--user=root");
        lab.slurm().awaitIdle();
        hosts.close();
    }
}
