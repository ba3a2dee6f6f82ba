package org.cloister.lab.booted;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabMachine;
import org.cloister.lab.Poll;

/**
 * A machine of a booted site: a QEMU in the namespaces of the site's network, with a disk of its own above the
 * release's. Its {@code eth0} is on the management network, its {@code eth1} on the trunk.
 *
 * @param number from 2; the last part of its address
 * @param cpus of the machine; an idle one costs time of the real ones under emulation
 * @param memoryMib of the machine, in MiB
 * @param network the site's network
 * @param folder its disk, console and sockets
 */
public record BootedMachine(
        String name, int number, int cpus, int memoryMib, BootedDisk disk, LabMachine network, Path folder) {
    /** TCG on a loaded machine of two cores. */
    private static final Duration BOOT_LIMIT = Duration.ofMinutes(10);

    private static final Duration END_LIMIT = Duration.ofMinutes(3);
    private static final Duration DEFAULT_LIMIT = Duration.ofMinutes(5);

    public String address() {
        return BootedNetwork.PREFIX + number;
    }

    /** Starts the machine, whose disk keeps what an earlier start wrote; {@link #awaitUp} waits until it runs. */
    public void start() throws IOException {
        Path overlay = folder.resolve("disk");
        if (!Files.exists(overlay)) {
            Files.createDirectories(folder);
            network.command(
                            "qemu-img",
                            "create",
                            "-q",
                            "-f",
                            "qcow2",
                            "-F",
                            "raw",
                            "-b",
                            disk.disk().toString(),
                            overlay.toString())
                    .succeed();
        }
        network.command(QemuArguments.of(this)).succeed();
    }

    /** Waits until systemd says that the machine has started. */
    public void awaitUp() throws IOException {
        Poll.until(
                "the start of " + name,
                BOOT_LIMIT,
                "read " + console(),
                Duration.ofSeconds(1),
                () -> ssh(List.of("systemctl", "is-system-running"), Duration.ofSeconds(30))
                        .run()
                        .out()
                        .matches("(?s)(running|degraded)\\s*"));
    }

    /** Returns a shell line that root runs on the machine. */
    public LabCommand command(String line) {
        return ssh(List.of(line), DEFAULT_LIMIT);
    }

    /** Runs a shell line as root on the machine; any exit status but 0 is an error that contains its output. */
    public String succeed(String line) throws IOException {
        return command(line).succeed();
    }

    /** Returns a shell line that root types at a terminal of the machine. */
    public LabCommand terminal(String line) throws IOException {
        List<String> argv = new ArrayList<>(List.of("ssh", "-tt"));
        argv.addAll(options());
        argv.addAll(List.of("root@" + address(), line));
        return TerminalSession.in(network).command(argv).within(DEFAULT_LIMIT);
    }

    /** Copies a file of this machine to the booted one. */
    public void put(Path file, String target) throws IOException {
        List<String> argv = new ArrayList<>(List.of("scp", "-q"));
        argv.addAll(options());
        argv.addAll(List.of(file.toString(), "root@" + address() + ":" + target));
        network.command(argv).within(DEFAULT_LIMIT).succeed();
    }

    /** Writes a text to a file of the machine. */
    public void write(String target, String text) throws IOException {
        command("mkdir -p \"$(dirname " + target + ")\" && cat > " + target)
                .reading(text)
                .succeed();
    }

    public boolean isRunning() throws IOException {
        return Files.exists(pid())
                && network.command("pkill", "-0", "-F", pid().toString()).run().exit() == 0;
    }

    /** Pulls the machine's plug. */
    public void cutPower() throws IOException {
        network.command("pkill", "-KILL", "-F", pid().toString()).succeed();
        awaitEnd();
    }

    /** Shuts the machine down as its administrator does. */
    public void powerOff() throws IOException {
        command("systemctl poweroff").run();
        awaitEnd();
    }

    /** Pulls the machine's cable out of the trunk, or puts it in again. */
    public void plugTrunk(boolean plugged) throws IOException {
        List<String> argv = List.of("ip", "link", "set", BootedNetwork.tap("trunk", name), plugged ? "up" : "down");
        network.command(argv).succeed();
    }

    Path pid() {
        return folder.resolve("pid");
    }

    public Path console() {
        return folder.resolve("console");
    }

    private void awaitEnd() throws IOException {
        Poll.until("the end of " + name, END_LIMIT, "read " + console(), () -> !isRunning());
    }

    private LabCommand ssh(List<String> words, Duration limit) {
        List<String> argv = new ArrayList<>(List.of("ssh"));
        argv.addAll(options());
        argv.add("root@" + address());
        argv.addAll(words);
        return network.command(argv).within(limit);
    }

    private List<String> options() {
        return List.of(
                "-i", disk.key().toString(),
                "-o", "UserKnownHostsFile=" + disk.knownHosts(),
                "-o", "StrictHostKeyChecking=yes",
                "-o", "BatchMode=yes",
                "-o", "ConnectTimeout=20",
                "-o", "LogLevel=ERROR",
                "-F", "none");
    }
}
