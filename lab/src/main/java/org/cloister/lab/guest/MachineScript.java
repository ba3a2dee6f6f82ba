package org.cloister.lab.guest;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import org.cloister.ipsec.Address;
import org.cloister.ipsec.Esp;
import org.cloister.ipsec.Identity;
import org.cloister.ipsec.Network;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.secret.Secrets;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.luks.volume.Format;
import org.cloister.vm.drive.Drive;
import org.cloister.vm.drive.DriveLayout;
import org.cloister.vm.drive.DrivePlan;
import org.cloister.vm.machine.DaemonAccount;
import org.cloister.vm.machine.Mount;
import org.cloister.vm.machine.Programs;
import org.cloister.vm.network.NetworkPlan;
import org.cloister.vm.network.Uplink;
import org.cloister.vm.scratch.Erasure;
import org.cloister.vm.scratch.Scratch;
import org.cloister.vm.scratch.ScratchPlan;
import org.cloister.vm.storage.Export;
import org.cloister.vm.storage.Exports;
import org.cloister.vm.storage.NfsServer;
import org.cloister.vm.storage.StorageMount;
import org.cloister.vm.storage.StorageMounts;
import org.cloister.vm.tunnel.Charon;
import org.cloister.vm.tunnel.Machine;
import org.cloister.vm.tunnel.ProjectTunnels;

/**
 * What agent-vm does with a machine, done in a guest, with a line printed for each thing that is to be seen. The guest is the
 * controlling VM, and its network namespace {@code w} the worker; {@code c0} and {@code w0} are the cable.
 */
public final class MachineScript {
    public static final ProjectFolder FOLDER = new ProjectFolder(Path.of("/run/machine"));

    private static final Machine CONTROLLER = new Machine("c", Identity.controller("c", "a"), new Address("10.70.0.1"));
    private static final Machine WORKER = new Machine("w1", Identity.worker("w1", "a"), new Address("10.70.0.2"));
    private static final Duration LIMIT = Duration.ofSeconds(90);

    private final Programs here = Programs.ofThisMachine();
    private final Programs there = Programs.behind(List.of("nsenter", "--net=/run/netns/w"));
    private final Secrets secrets = Secrets.open(Secrets.Locking.REQUIRED);

    private MachineScript() throws IOException {}

    /** @param args {@code swap DISK}, {@code scratch DISK MARKER}, {@code drive DISK MARKER}, {@code port} or {@code storage MARKER} */
    public static void main(String[] args) throws IOException {
        if (args[0].equals("swap")) {
            Scratch scratch = new MachineScript().of(ScratchPlan.of(Path.of(args[1]), "worker/lab.0"));
            say("swap", () -> scratch.open());
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
        // Netty's and the daemons' watchers are not waited for.
        System.exit(0);
    }

    private Scratch of(ScratchPlan plan) throws IOException {
        return new Scratch(here, secrets, Cryptsetup.load(), InstantSource.system(), plan);
    }

    private void scratch(Path disk, String marker) throws IOException {
        ScratchPlan plan = ScratchPlan.of(disk, "worker/lab.0");
        of(plan).open();
        print("secrets " + secrets.live());
        for (Mount mount : Mount.list(here)) {
            if (mount.source().equals(plan.mapping().path().toString())) {
                print("mounted " + mount.at() + " " + mount.options().containsAll(List.of("rw", "nosuid", "nodev")));
            }
        }
        print(here.succeed("stat", "-c", "%a %n", "/scratch", "/tmp", "/var/tmp")
                .strip());
        Files.writeString(Path.of("/tmp/marked"), marker.repeat(1000));
        here.succeed("sync");
        // Another agent, after this one was killed.
        Scratch after = of(plan);
        after.open();
        print("kept " + Files.exists(Path.of("/tmp/marked")));
        Files.writeString(Path.of("/var/tmp/marked"), marker.repeat(1000));
        // As a job's would, of another user than the agent.
        Process holder = new ProcessBuilder("setpriv", "--reuid=2001", "--regid=2001", "--clear-groups", "sleep", "600")
                .directory(Path.of("/scratch").toFile())
                .start();
        print("held " + after.end());
        holder.destroyForcibly().onExit().join();
        Erasure erasure = after.end();
        print("erased " + erasure.erased().isPresent() + " " + erasure.trouble());
        print("again " + after.end());
        print("left " + Mount.at(here, Path.of("/scratch"))
                + Files.exists(plan.mapping().path()));
    }

    private void drive(Path disk, String marker) throws IOException {
        DrivePlan plan = new DrivePlan(disk, Format.labelled("project/lab"), DrivePlan.MAPPING, Path.of("/run/drive"));
        Drive drive = new Drive(here, secrets, Cryptsetup.load(), plan);
        DriveLayout layout = new DriveLayout(plan.at());
        try (SecretMemory key = secrets.random(64);
                SecretMemory other = secrets.random(64)) {
            say("empty", () -> drive.open(key, 1, false));
            print("made " + drive.open(key, 7, true));
            DaemonAccount root = new DaemonAccount("root", 0, 0);
            layout.make(0, root, root);
            for (Mount mount : Mount.at(here, plan.at())) {
                print("mounted " + mount.type() + " " + mount.options().containsAll(List.of("rw", "nosuid", "nodev")));
            }
            Files.writeString(layout.agent().resolve("marked"), marker.repeat(1000));
            say("twice", () -> drive.open(key, 8, false));
            print("closed " + drive.close() + Mount.at(here, plan.at())
                    + Files.exists(plan.mapping().path()));
            say("same", () -> drive.open(key, 7, false));
            say("stranger", () -> drive.open(other, 8, false));
            say("anew", () -> drive.open(key, 8, true));
            print("epoch " + drive.epoch());
            print("found " + drive.open(key, 9, false));
            print("kept " + Files.exists(layout.agent().resolve("marked")) + " " + drive.epoch());
            print("closed " + drive.close());
        }
        print("secrets " + secrets.live());
    }

    private void port() throws IOException {
        new SlurmPortScript(here, there, CONTROLLER.address())
                .run(new Network(new Address("10.70.0.0"), 24))
                .forEach(MachineScript::print);
    }

    private void tunnelled(Attempt within) throws IOException {
        Uplink own = new Uplink(here);
        Uplink workers = new Uplink(there);
        own.up(network(here, "c0", CONTROLLER, List.of(WORKER.address())));
        workers.up(network(there, "w0", WORKER, List.of()));
        Charon first = new Charon(here, Path.of("/run/charon-c"), Esp.KERNEL);
        Charon second = new Charon(there, Path.of("/run/charon-w"), Esp.KERNEL);
        first.start();
        second.start();
        try (ProjectTunnels answers = ProjectTunnels.open(
                        first.socket(),
                        FOLDER.plan(secrets, CONTROLLER).with(Machine.peersOfController(List.of(WORKER))),
                        MachineScript::print);
                ProjectTunnels calls = ProjectTunnels.open(
                        second.socket(),
                        FOLDER.plan(secrets, WORKER).with(Machine.peersOfWorker(CONTROLLER, List.of())),
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
        here.succeed("mount", "-t", "tmpfs", "tmpfs", project.toString());
        home(project, "ada", 2001, marker);
        home(project, "eve", 2002, marker);
        here.succeed("chmod", "755", project.resolve("home").toString());
        NfsServer server = new NfsServer(here, CONTROLLER.address(), Path.of("/run/nfsdcld"), Path.of("/run"));
        server.start();
        server.start();
        Exports exports = new Exports(here, project);
        here.succeed("exportfs", "-i", "-o", "rw,no_root_squash,fsid=0", "10.70.0.99:" + project);
        Export export = new Export(WORKER.address(), 2001, 2001, false);
        exports.reconcile(List.of(export));
        exports.add(export);
        print("exports "
                + here.succeed("cut", "-d(", "-f1", "/var/lib/nfs/etab").strip().replace('\t', ' '));
        StorageMount all = new StorageMount("/", Path.of("/run/worker/project"), false);
        StorageMounts mounts = new StorageMounts(there, CONTROLLER.address(), List.of(all));
        mounts.mount(LIMIT);
        mounts.mount(LIMIT);
        print("own " + there.succeed("cat", all.at() + "/home/ada/f").contains(marker));
        say("others", () -> there.succeed("cat", all.at() + "/home/eve/f"));
        there.succeed("touch", all.at() + "/home/ada/new");
        print("owner "
                + here.succeed("stat", "-c", "%u:%g", project + "/home/ada/new").strip());
        StorageMount same = new StorageMount("/", Path.of("/run/stranger"), false);
        say(
                "stranger",
                () -> new StorageMounts(here, CONTROLLER.address(), List.of(same)).mount(Duration.ofSeconds(2)));
        exports.remove(export);
        say("removed", () -> there.succeed("cat", all.at() + "/home/ada/f"));
        print("unmounted " + mounts.unmount() + Mount.at(there, all.at()));
        server.stop();
        print("exports " + here.succeed("cat", "/var/lib/nfs/etab").strip());
    }

    private void home(Path project, String user, int uid, String marker) throws IOException {
        Path home = Files.createDirectories(project.resolve("home").resolve(user));
        Files.writeString(home.resolve("f"), marker.repeat(1000), StandardCharsets.US_ASCII);
        here.succeed("chown", "-R", uid + ":" + uid, home.toString());
        here.succeed("chmod", "700", home.toString());
    }

    private static NetworkPlan network(Programs programs, String device, Machine self, List<Address> peers)
            throws IOException {
        String link = programs.succeed("ip", "-brief", "link", "show", "dev", device);
        String mac = link.strip().split("\\s+", -1)[2];
        return new NetworkPlan(mac, self.address(), 24, 1400, CONTROLLER.address(), peers, Esp.KERNEL);
    }

    private interface Attempt {
        void run() throws IOException;
    }

    private static void say(String what, Attempt attempt) {
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
