package org.cloister.daemon;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies systemd of the daemon's start, life and stop (sd_notify(3)). Without {@code NOTIFY_SOCKET} it does nothing.
 */
public final class SystemdNotifier {
    private static final Logger LOG = LoggerFactory.getLogger(SystemdNotifier.class);
    private static final int WAIT_S = 5;

    private final Sender sender;

    /** Sends a notification. */
    @FunctionalInterface
    public interface Sender {
        /**
         * Sends the notification once.
         *
         * @param socket value of {@code NOTIFY_SOCKET}
         * @param state lines, each {@code NAME=VALUE}
         */
        void send(String socket, String state) throws IOException, InterruptedException;
    }

    public SystemdNotifier(Sender sender) {
        this.sender = sender;
    }

    /**
     * Returns a notifier that uses {@code systemd-notify}, since the JDK has no datagrams on Unix sockets. That is a
     * child of the daemon, so the unit needs {@code NotifyAccess=all}.
     */
    public static SystemdNotifier byCommand() {
        return new SystemdNotifier((socket, state) -> runCommand(state));
    }

    public void notifyReady(String status) {
        send("READY=1\nSTATUS=" + status);
    }

    public void notifyStopping() {
        send("STOPPING=1");
    }

    /** Tells the unit's watchdog that the daemon works. */
    void notifyAlive() {
        send("WATCHDOG=1");
    }

    private void send(String state) {
        String socket = System.getenv("NOTIFY_SOCKET");
        if (socket == null) {
            return;
        }
        try {
            sender.send(socket, state);
        } catch (IOException e) {
            LOG.warn("systemd is not notified: {}", e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void runCommand(String state) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("systemd-notify"));
        state.lines().forEach(command::add);
        Process process;
        try {
            process = new ProcessBuilder(command).inheritIO().start();
        } catch (IOException e) {
            throw new IOException(e.getMessage() + "; install systemd, or set Type=exec in the unit", e);
        }
        if (!process.waitFor(WAIT_S, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new IOException("systemd-notify did not end within " + WAIT_S + " s");
        }
    }
}
