package org.cloister.host.daemon;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.cloister.daemon.DaemonCommandLine;
import org.cloister.daemon.StopSignal;
import org.cloister.daemon.SystemdNotifier;
import org.cloister.host.HostConfig;

/**
 * {@code agent-host [--check] [FILE]}: opens its ledger, looks what is here, attaches to a relay, answers job steps and
 * operators, tells systemd, and waits for SIGTERM. VMs go on without it.
 */
public final class AgentHostMain {
    private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");

    private AgentHostMain() {}

    public static void main(String[] args) throws InterruptedException {
        new DaemonCommandLine("agent-host", Path.of("/etc/cloister/agent-host.toml"), "enrol the host")
                .main(args, AgentHostMain::load, AgentHostMain::run);
    }

    private static HostConfig load(Path file) throws IOException {
        // The kernel's word: a name that resolves is not needed to have one.
        String machine = Files.readString(HOST_NAME, StandardCharsets.US_ASCII).strip();
        return HostConfig.load(file, machine.split("[.]", 2)[0]);
    }

    @SuppressWarnings("try") // closed after the host
    private static void run(HostConfig config) throws IOException, InterruptedException {
        try (StopSignal stop = new StopSignal();
                HostDaemon host = HostDaemon.open(config)) {
            SystemdNotifier.notifyReady("serving as " + host.name());
            stop.await();
            SystemdNotifier.notifyStopping();
        }
    }
}
