package org.cloister.lab.guest;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.address.Ipv4Network;
import org.cloister.base.mount.MountedFileSystem;
import org.cloister.base.process.ProcessRunner;
import org.cloister.ipsec.EspMode;
import org.cloister.ipsec.TunnelIdentity;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.luks.volume.VolumeFormat;
import org.cloister.vm.controller.drive.DriveLayout;
import org.cloister.vm.controller.drive.DrivePlan;
import org.cloister.vm.controller.drive.ProjectDrive;
import org.cloister.vm.controller.storage.NfsExport;
import org.cloister.vm.controller.storage.NfsExports;
import org.cloister.vm.controller.storage.NfsServer;
import org.cloister.vm.system.daemon.DaemonAccount;
import org.cloister.vm.system.network.NetworkPlan;
import org.cloister.vm.system.network.ProjectInterface;
import org.cloister.vm.system.tunnel.CharonDaemon;
import org.cloister.vm.system.tunnel.ProjectTunnels;
import org.cloister.vm.system.tunnel.TunnelPeer;
import org.cloister.vm.worker.scratch.ScratchPlan;
import org.cloister.vm.worker.scratch.ScratchVolume;
import org.cloister.vm.worker.storage.StorageMount;
import org.cloister.vm.worker.storage.StorageMounts;

/**
 * Performs agent-vm's operations on a machine in a guest, and prints a line for each observation. The guest is the
 * controlling VM, and its network namespace {@code w} the worker; {@code c0} and {@code w0} are the cable.
 */
public final class MachineScript {
    public static final GuestProjectFolder FOLDER = new GuestProjectFolder(Path.of("/run/machine"));

    private static final TunnelPeer CONTROLLER =
            new TunnelPeer("c", TunnelIdentity.controller("c", "a"), new Ipv4Address("10.70.0.1"));
    private static final TunnelPeer WORKER =
            new TunnelPeer("w1", TunnelIdentity.worker("w1", "a"), new Ipv4Address("10.70.0.2"));
    private static final Duration LIMIT = Duration.ofSeconds(90);

    private final ProcessRunner here = ProcessRunner.local();
    private final ProcessRunner there = ProcessRunner.withPrefix(List.of("nsenter", "--net=/run/netns/w"));
    private final SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.REQUIRED);

    private MachineScript() throws IOException {}

    /**
     * @param args {@code swap DISK}, {@code scratch DISK MARKER}, {@code drive DISK MARKER}, {@code port} or
     *     {@code storage MARKER}
     */
    public static void main(String[] args) throws IOException {
        if (args[0].equals("swap")) {
            ScratchVolume scratch = new MachineScript().of(ScratchPlan.of(Path.of(args[1]), "worker/lab.0"));
            print("swap", () -> scratch.open());
        } else if (args[0].equals("scratch")) {
            new MachineScript().scratch(Path.of(args[1]), args[2]);
        } else if (args[0].equals("drive")) {
            new MachineScript().drive(Path.of(args[1]), args[2]);
        } else if (args[0].equals("port")) {
            MachineScript script = new MachineScript();
            script.tunnelled(script::port);
        } else {
            MachineScript script = new MachineScript();
            script.tunnelled(() -> script.serve(args[1]));
        }
        // Exits without waiting for Netty's and the daemons' watchers.
        System.exit(0);
    }

    private ScratchVolume of(ScratchPlan plan) throws IOException {
        return new ScratchVolume(here, secrets, Cryptsetup.load(), InstantSource.system(), plan);
    }

    private void scratch(Path disk, String marker) throws IOException {
        ScratchPlan plan = ScratchPlan.of(disk, "worker/lab.0");
        of(plan).open();
        print("secrets " + secrets.liveCount());
        for (MountedFileSystem mount : MountedFileSystem.list(here)) {
            if (mount.source().equals(plan.mapping().path().toString())) {
                print("mounted " + mount.mountPoint() + " "
                        + mount.options().containsAll(List.of("rw", "nosuid", "nodev")));
            }
        }
        print(here.runChecked("stat", "-c", "%a %n", "/scratch", "/tmp", "/var/tmp")
                .strip());
        Files.writeString(Path.of("/tmp/marked"), marker.repeat(1000));
        here.runChecked("sync");
        // Represents another agent, after this one was killed.
        ScratchVolume after = of(plan);
        after.open();
        print("kept " + Files.exists(Path.of("/tmp/marked")));
        Files.writeString(Path.of("/var/tmp/marked"), marker.repeat(1000));
        // A process as a job has it, of another user than the agent.
        Process holder = new ProcessBuilder("setpriv", "--reuid=2001", "--regid=2001", "--clear-groups", "sleep", "600")
                .directory(Path.of("/scratch").toFile())
                .start();
        print("held " + after.erase());
        holder.destroyForcibly().onExit().join();
        ScratchVolume.Erasure erasure = after.erase();
        print("erased " + erasure.erased().isPresent() + " " + erasure.error());
        print("again " + after.erase());
        print("left " + MountedFileSystem.at(here, Path.of("/scratch"))
                + Files.exists(plan.mapping().path()));
    }

    private void drive(Path disk, String marker) throws IOException {
        DrivePlan plan =
                new DrivePlan(disk, VolumeFormat.labelled("project/lab"), DrivePlan.MAPPING, Path.of("/run/drive"));
        ProjectDrive drive = new ProjectDrive(here, secrets, Cryptsetup.load(), plan);
        DriveLayout layout = new DriveLayout(plan.mountPoint());
        try (SecretMemory key = secrets.random(64);
                SecretMemory other = secrets.random(64)) {
            print("empty", () -> drive.open(key, 1, false));
            print("made " + drive.open(key, 7, true));
            DaemonAccount root = new DaemonAccount("root", 0, 0);
            layout.createFolders(0, root, root);
            for (MountedFileSystem mount : MountedFileSystem.at(here, plan.mountPoint())) {
                print("mounted " + mount.type() + " " + mount.options().containsAll(List.of("rw", "nosuid", "nodev")));
            }
            Files.writeString(layout.agentFolder().resolve("marked"), marker.repeat(1000));
            print("twice", () -> drive.open(key, 8, false));
            print("closed " + drive.close() + MountedFileSystem.at(here, plan.mountPoint())
                    + Files.exists(plan.mapping().path()));
            print("same", () -> drive.open(key, 7, false));
            print("stranger", () -> drive.open(other, 8, false));
            print("anew", () -> drive.open(key, 8, true));
            print("epoch " + drive.epoch());
            print("found " + drive.open(key, 9, false));
            print("kept " + Files.exists(layout.agentFolder().resolve("marked")) + " " + drive.epoch());
            print("closed " + drive.close());
        }
        print("secrets " + secrets.liveCount());
    }

    private void port() throws IOException {
        new SlurmPortScript(here, there, CONTROLLER.address())
                .run(Ipv4Network.parse("10.70.0.0/24"))
                .forEach(MachineScript::print);
    }

    private void tunnelled(Attempt within) throws IOException {
        ProjectInterface own = new ProjectInterface(here);
        ProjectInterface workers = new ProjectInterface(there);
        own.up(network(here, "c0", CONTROLLER, List.of(WORKER.address())));
        workers.up(network(there, "w0", WORKER, List.of()));
        CharonDaemon first = new CharonDaemon(here, Path.of("/run/charon-c"), EspMode.KERNEL);
        CharonDaemon second = new CharonDaemon(there, Path.of("/run/charon-w"), EspMode.KERNEL);
        first.start();
        second.start();
        try (ProjectTunnels answers = ProjectTunnels.open(
                        first.socket(),
                        FOLDER.plan(secrets, CONTROLLER).with(TunnelPeer.peersOfController(List.of(WORKER))),
                        MachineScript::print);
                ProjectTunnels calls = ProjectTunnels.open(
                        second.socket(),
                        FOLDER.plan(secrets, WORKER).with(TunnelPeer.peersOfWorker(CONTROLLER, List.of())),
                        MachineScript::print)) {
            calls.awaitUp("c", LIMIT);
            print("tunnel " + answers.isUp("w1"));
            within.run();
        } finally {
            first.stop();
            second.stop();
        }
    }

    private void serve(String marker) throws IOException {
        Path project = Files.createDirectories(Path.of("/project"));
        here.runChecked("mount", "-t", "tmpfs", "tmpfs", project.toString());
        home(project, "ada", 2001, marker);
        home(project, "eve", 2002, marker);
        here.runChecked("chmod", "755", project.resolve("home").toString());
        NfsServer server = new NfsServer(here, CONTROLLER.address(), Path.of("/run/nfsdcld"), Path.of("/run"));
        server.start();
        server.start();
        NfsExports exports = new NfsExports(here, project);
        here.runChecked("exportfs", "-i", "-o", "rw,no_root_squash,fsid=0", "10.70.0.99:" + project);
        NfsExport export = new NfsExport(WORKER.address(), 2001, 2001, false);
        exports.reconcile(List.of(export));
        exports.add(List.of(export));
        print("exports "
                + here.runChecked("cut", "-d(", "-f1", "/var/lib/nfs/etab")
                        .strip()
                        .replace('\t', ' '));
        StorageMount all = new StorageMount("/", Path.of("/run/worker/project"), false);
        StorageMounts mounts = new StorageMounts(there, CONTROLLER.address(), List.of(all));
        mounts.mount(LIMIT);
        mounts.mount(LIMIT);
        print("own " + there.runChecked("cat", all.mountPoint() + "/home/ada/f").contains(marker));
        print("others", () -> there.runChecked("cat", all.mountPoint() + "/home/eve/f"));
        there.runChecked("touch", all.mountPoint() + "/home/ada/new");
        print("owner "
                + here.runChecked("stat", "-c", "%u:%g", project + "/home/ada/new")
                        .strip());
        StorageMount same = new StorageMount("/", Path.of("/run/stranger"), false);
        print(
                "stranger",
                () -> new StorageMounts(here, CONTROLLER.address(), List.of(same)).mount(Duration.ofSeconds(2)));
        exports.remove(List.of(export));
        print("removed", () -> there.runChecked("cat", all.mountPoint() + "/home/ada/f"));
        print("unmounted " + mounts.unmount() + MountedFileSystem.at(there, all.mountPoint()));
        server.stop();
        print("exports " + here.runChecked("cat", "/var/lib/nfs/etab").strip());
    }

    private void home(Path project, String user, int uid, String marker) throws IOException {
        Path home = Files.createDirectories(project.resolve("home").resolve(user));
        Files.writeString(home.resolve("f"), marker.repeat(1000), StandardCharsets.US_ASCII);
        here.runChecked("chown", "-R", uid + ":" + uid, home.toString());
        here.runChecked("chmod", "700", home.toString());
    }

    private static NetworkPlan network(ProcessRunner programs, String device, TunnelPeer self, List<Ipv4Address> peers)
            throws IOException {
        String link = programs.runChecked("ip", "-brief", "link", "show", "dev", device);
        String mac = link.strip().split("\\s+", -1)[2];
        return new NetworkPlan(mac, self.address(), 24, 1400, CONTROLLER.address(), peers, EspMode.KERNEL);
    }

    private interface Attempt {
        void run() throws IOException;
    }

    private static void print(String what, Attempt attempt) {
        try {
            attempt.run();
            print(what + " done");
        } catch (IOException e) {
            print(what + " refused: " + e.getMessage());
        }
    }

    private static void print(Object line) {
        System.out.println(line);
    }
}
