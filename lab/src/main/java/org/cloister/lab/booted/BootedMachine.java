package org.cloister.lab.booted;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.temporal.ChronoUnit;
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
 * @param units that start with the machine, beside those that the disk enables
 * @param network the site's network
 * @param folder its disk, console and sockets
 */
public record BootedMachine(
        String name,
        int number,
        int cpus,
        int memoryMib,
        List<String> units,
        BootedDisk disk,
        LabMachine network,
        Path folder) {
    /** TCG on a loaded machine of two cores. */
    private static final Duration BOOT_LIMIT = Duration.ofMinutes(10);

    private static final Duration DEFAULT_LIMIT = Duration.ofMinutes(5);
    private static final Duration END_LIMIT = Duration.ofMinutes(5);

    public String address() {
        return BootedNetwork.PREFIX + number;
    }

    /** Starts a new machine; {@link #awaitUp} waits until it runs. */
    void start() throws IOException {
        Files.createDirectories(folder);
        String base = disk.disk().toString();
        String overlay = folder.resolve("disk").toString();
        network.command("qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b", base, overlay)
                .succeed();
        startAgain();
    }

    /** Starts a machine that is off, with what its disk has; {@link #awaitUp} waits until it runs. */
    public void startAgain() throws IOException {
        new BootedEmulator(network).command(folder, QemuArguments.of(this)).succeed();
    }

    /** Starts a machine that is off, whose hardware has a wrong clock. */
    public void startAgain(LocalDateTime clock) throws IOException {
        List<String> argv = new ArrayList<>(QemuArguments.of(this));
        argv.addAll(List.of("-rtc", "base=" + clock.truncatedTo(ChronoUnit.SECONDS)));
        new BootedEmulator(network).command(folder, argv).succeed();
    }

    /** Pulls the machine's plug: its disk has what its kernel had written out. */
    public void cutPower() throws IOException {
        network.command("pkill", "-KILL", "-F", pid().toString()).succeed();
        awaitEnd();
    }

    /** Shuts the machine down as its administrator does. */
    public void powerOff() throws IOException {
        // The connection may end before the command has answered.
        command("systemctl poweroff").run();
        awaitEnd();
    }

    /** Pulls the cable of one of its devices, or puts it in again. */
    public void plug(BootedCable cable, boolean plugged) throws IOException {
        String tap = BootedNetwork.tap(cable.bridge(), name);
        network.command("ip", "link", "set", tap, plugged ? "up" : "down").succeed();
    }

    private void awaitEnd() throws IOException {
        Poll.until("the end of " + name, END_LIMIT, "read " + console(), () -> !isRunning());
    }

    /** Waits until systemd says that the machine has started. */
    public void awaitUp() throws IOException {
        Poll.until(
                "the start of " + name,
                BOOT_LIMIT,
                "read " + console(),
                Duration.ofSeconds(1),
                // A machine that boots may accept a connection and say nothing.
                () -> network.command(ssh("timeout", "25", "ssh", "systemctl is-system-running"))
                        .run()
                        .out()
                        .matches("(?s)(running|degraded)\\s*"));
    }

    /** Returns a shell line that root runs on the machine. */
    public LabCommand command(String line) {
        return network.command(ssh("ssh", line)).within(DEFAULT_LIMIT);
    }

    /** Runs a shell line as root on the machine; any exit status but 0 is an error that contains its output. */
    public String succeed(String line) throws IOException {
        return command(line).succeed();
    }

    /** Returns a shell line that root types at a terminal of the machine. */
    public LabCommand terminal(String line) throws IOException {
        return TerminalSession.in(network).command(ssh("ssh", "-tt", line));
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

    Path pid() {
        return folder.resolve("pid");
    }

    public Path console() {
        return folder.resolve("console");
    }

    /** @param words ssh with what is before it, and the remote command as the last one */
    private List<String> ssh(String... words) {
        List<String> argv = new ArrayList<>(List.of(words));
        argv.addAll(argv.size() - 1, options());
        argv.add(argv.size() - 1, "root@" + address());
        return argv;
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
