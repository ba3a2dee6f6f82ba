package org.cloister.host.daemon;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.cloister.daemon.DaemonCommandLine;
import org.cloister.daemon.DaemonCommandLine.CredentialFiles;
import org.cloister.daemon.StopSignal;
import org.cloister.daemon.SystemdNotifier;
import org.cloister.host.HostConfig;
import org.cloister.host.control.NotificationSocket;

/**
 * Main class: {@code agent-host [--check | --credentials] [FILE]}. Opens the ledger, observes this host's state,
 * attaches to a relay, serves job steps and operators, notifies systemd, and waits for SIGTERM. VMs continue to run
 * after it stops.
 */
public final class AgentHostMain {
    private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");

    private AgentHostMain() {}

    public static void main(String[] args) throws InterruptedException {
        new DaemonCommandLine("agent-host", Path.of("/etc/cloister/agent-host.toml"), "enrol the host")
                .main(
                        args,
                        AgentHostMain::load,
                        config -> new CredentialFiles(
                                config.credentials().certificate(),
                                config.credentials().key(),
                                config.credentials().site()),
                        AgentHostMain::run);
    }

    private static HostConfig load(Path file) throws IOException {
        // The host name from the kernel, which exists even where no name resolves.
        String machine = Files.readString(HOST_NAME, StandardCharsets.US_ASCII).strip();
        return HostConfig.load(file, machine.split("[.]", 2)[0]);
    }

    @SuppressWarnings("try") // Closed after the host.
    private static void run(HostConfig config) throws IOException, InterruptedException {
        SystemdNotifier notifier = new SystemdNotifier(NotificationSocket::send);
        try (StopSignal stop = new StopSignal();
                HostDaemon host = HostDaemon.open(config, notifier)) {
            notifier.notifyReady("serving as " + host.name());
            stop.await();
            notifier.notifyStopping();
        }
    }
}
