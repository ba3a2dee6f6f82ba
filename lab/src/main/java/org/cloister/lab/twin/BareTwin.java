package org.cloister.lab.twin;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.cloister.lab.Lab;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabException;
import org.cloister.lab.LabHost;
import org.cloister.lab.Poll;
import org.cloister.lab.relay.ChildProcess;
import org.cloister.protocol.image.ImageManifest;

/**
 * The bare twin: a project whose jobs get their VM from {@code twin.sh}. Its controller is a VM, too, and runs all the
 * time; the script runs on the host, which has an address on the project's VLAN for ssh. It has a separate bridge,
 * because agent-host controls the other one.
 */
public final class BareTwin implements AutoCloseable {
    private static final String BRIDGE = "br-twin";
    private static final String DEVICE = "twin-admin";
    private static final int VLAN = 183;
    private static final String ACCOUNT = "twin";
    /** Memory that agent-host leaves to the guest of a controlling VM of ours with 1500 MiB. */
    private static final String CONTROLLER_MIB = "1047";

    private static final long STORAGE = 256L << 20;
    private static final Duration LIMIT = Duration.ofMinutes(8);
    private static final Duration AGAIN = Duration.ofSeconds(2);

    private final Lab lab;
    private final LabHost host;
    private final Path folder;
    private final Path image;

    private BareTwin(Lab lab, LabHost host, Path folder, Path image) {
        this.lab = lab;
        this.host = host;
        this.folder = folder;
        this.image = image;
    }

    /**
     * Starts the twin; its controller runs when this returns.
     *
     * @param accelerator as QEMU names it
     */
    public static BareTwin on(Lab lab, Path image, String accelerator) throws IOException {
        LabHost host = lab.host(1);
        BareTwin twin = new BareTwin(lab, host, host.folder("twin"), host.folder("twin-image"));
        lab.slurm().account(ACCOUNT);
        twin.writeFiles(image, accelerator);
        twin.network();
        twin.controller();
        return twin;
    }

    /**
     * Runs one job and measures its phases: up to each of the stamps of {@code twin.sh}.
     *
     * @param cpus of its worker's VM
     * @param memoryMib of that
     */
    public JobTimes run(String cpus, String memoryMib) throws IOException {
        Set<Long> before = WorkerQemu.all();
        SiteHoldings held = SiteHoldings.of(lab, BRIDGE);
        Map<String, Double> stamps = new LinkedHashMap<>();
        CompletableFuture<LabCommand.Output> script =
                async(host.command(folder.resolve("twin.sh").toString(), folder.toString(), cpus, memoryMib), line -> {
                    String[] words = line.split(" ", -1);
                    if (words.length == 3 && words[0].equals("phase")) {
                        stamps.put(words[1], Double.parseDouble(words[2]));
                    }
                });
        TracedJob job = new TracedJob();
        CompletableFuture<LabCommand.Output> follow = async(ssh("member", "bash follow.sh twin-sshd"), job);
        try {
            WorkerQemu qemu = WorkerQemu.await(lab, before, folder.resolve("global.out"));
            double end = qemu.awaitEnd();
            SiteHoldings.ReleaseTimes free = held.awaitFree(lab, BRIDGE);
            require("twin.sh", script);
            require("follow.sh", follow);
            return JobTimes.of(job, qemu, end, at(stamps, "erased"), free, phases(job, stamps, end));
        } catch (IOException | RuntimeException e) {
            throw new LabException(
                    "twin's job, stamps " + stamps.keySet() + ": " + e.getMessage() + output(script) + output(follow),
                    "read " + folder.resolve("worker.console") + " and " + folder.resolve("global.out"),
                    e);
        }
    }

    private static Map<String, Double> phases(TracedJob job, Map<String, Double> stamps, double qemuEnd)
            throws LabException {
        Map<String, Double> phases = new LinkedHashMap<>();
        double last = job.at("submit");
        for (Map.Entry<String, Double> stamp : stamps.entrySet()) {
            if (stamp.getKey().equals("noticed")) {
                phases.put("start", job.at("first") - last);
                last = job.at("last");
            }
            double until = stamp.getKey().equals("over") ? qemuEnd : stamp.getValue();
            phases.put(stamp.getKey().equals("over") ? "poweroff" : stamp.getKey(), until - last);
            last = until;
        }
        phases.put("freed", at(stamps, "over") - last);
        return phases;
    }

    private static double at(Map<String, Double> stamps, String phase) throws LabException {
        Double at = stamps.get(phase);
        if (at == null) {
            throw new LabException("twin.sh: no phase " + phase + " among " + stamps.keySet(), "run it by hand");
        }
        return at;
    }

    private void writeFiles(Path below, String accelerator) throws IOException {
        Path key = key("key");
        Path hostKey = key("host_key");
        TwinImage.build(below, image, key, hostKey);
        for (String script : List.of("twin.sh", "host.sh", "vm.sh", "follow.sh", "job.sh")) {
            Path file = Files.writeString(folder.resolve(script), TwinImage.text(script));
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        ImageManifest manifest = ImageManifest.load(image);
        List<String> layers =
                manifest.layers().stream().map(layer -> layer.name()).toList();
        Files.writeString(folder.resolve("settings"), """
                export OVS_RUNDIR='%s'
                IMAGE='%s'
                FIRMWARE='%s'
                KERNEL='%s'
                INITRD='%s'
                COMMAND_LINE='%s'
                LAYERS='%s'
                ACCELERATOR='%s'
                VLAN=%d
                ACCOUNT=%s
                SCRATCH=/dev/vd%c
                """.formatted(
                        host.ovs().folder(),
                        image,
                        manifest.firmware().name(),
                        manifest.kernel().name(),
                        manifest.initrd().name(),
                        manifest.commandLine(),
                        String.join(" ", layers),
                        accelerator,
                        VLAN,
                        ACCOUNT,
                        (char) ('a' + layers.size())));
        String[] output = Files.readString(folder.resolve("host_key.pub")).split(" ", 3);
        Files.writeString(folder.resolve("known_hosts"), "twin " + output[0] + " " + output[1] + "\n");
        Files.writeString(folder.resolve("ssh_config"), """
                Host controller member
                    HostName 10.98.0.1
                Host worker
                    HostName 10.98.0.2
                Host member
                    User %2$s
                Host *
                    User root
                    IdentityFile %1$s/key
                    IdentitiesOnly yes
                    UserKnownHostsFile %1$s/known_hosts
                    HostKeyAlias twin
                    BatchMode yes
                    ConnectTimeout 10
                """.formatted(folder, TwinImage.USER));
    }

    private Path key(String name) throws IOException {
        Path file = folder.resolve(name);
        LabCommand.of("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", file.toString())
                .succeed();
        return file;
    }

    /** Makes the host itself a port of the bridge. */
    private void network() throws IOException {
        for (LabHost each : lab.hosts()) {
            each.ovs().vsctl("add-br", BRIDGE, "--", "set", "bridge", BRIDGE, "datapath_type=netdev");
        }
        host.ovs().vsctl("add-port", BRIDGE, DEVICE, "tag=" + VLAN, "--", "set", "interface", DEVICE, "type=internal");
        host.command("ip", "address", "add", "10.98.0.254/24", "dev", DEVICE).succeed();
        host.command("ip", "link", "set", DEVICE, "up").succeed();
    }

    private void controller() throws IOException {
        Path disk = folder.resolve("storage.img");
        LabCommand.of("truncate", "-s", Long.toString(STORAGE), disk.toString()).succeed();
        List<String> argv = new ArrayList<>(host.command(
                        folder.resolve("vm.sh").toString(),
                        folder.toString(),
                        "controller",
                        "1",
                        CONTROLLER_MIB,
                        disk.toString(),
                        "-serial",
                        "file:" + folder.resolve("controller.console"))
                .argv());
        ChildProcess.start("twin-controller", folder, argv);
        Poll.until(
                "the twin's controller",
                LIMIT,
                "read " + folder.resolve("controller.console"),
                AGAIN,
                () -> ssh("controller", "true").run().exit() == 0);
        ssh("controller", "/usr/lib/twin/controller " + disk()).succeed();
        for (String file : List.of("follow.sh", "job.sh")) {
            ssh("member", "cat >" + file)
                    .reading(Files.readString(folder.resolve(file)))
                    .succeed();
        }
    }

    /** Returns the device of the controller's disk, which follows its layers. */
    private String disk() throws IOException {
        return Files.readString(folder.resolve("settings"))
                .lines()
                .filter(line -> line.startsWith("SCRATCH="))
                .map(line -> line.substring("SCRATCH=".length()))
                .collect(Collectors.joining());
    }

    private LabCommand ssh(String whom, String line) {
        return host.command("ssh", "-F", folder.resolve("ssh_config").toString(), whom, line)
                .within(LIMIT);
    }

    private static CompletableFuture<LabCommand.Output> async(LabCommand command, Consumer<String> each) {
        return CompletableFuture.supplyAsync(() -> {
            try {
                return command.within(LIMIT).follow(each);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private static void require(String what, CompletableFuture<LabCommand.Output> ended) throws IOException {
        LabCommand.Output output = ended.join();
        if (output.exit() != 0) {
            throw new LabException(what + ": exit " + output.exit() + ": " + output.err(), "run it by hand");
        }
    }

    private static String output(CompletableFuture<LabCommand.Output> running) {
        return running.isDone() && !running.isCompletedExceptionally()
                ? "\n" + running.join().err()
                : "";
    }

    @Override
    public void close() throws IOException {
        host.command("pkill", "-f", "name twin-").run();
    }
}
