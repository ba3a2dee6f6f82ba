package org.cloister.daemon;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies systemd of the daemon's start and stop (sd_notify(3)) through {@code systemd-notify}, since the JDK has no
 * datagrams on Unix sockets. It runs with the daemon's own environment, which names the socket. The unit needs {@code
 * NotifyAccess=all}. Without {@code NOTIFY_SOCKET} it does nothing.
 */
public final class SystemdNotifier {
    private static final Logger LOG = LoggerFactory.getLogger(SystemdNotifier.class);
    private static final int WAIT_S = 5;

    private SystemdNotifier() {}

    public static void notifyReady(String status) {
        notify(List.of("systemd-notify", "--ready", "--status=" + status));
    }

    public static void notifyStopping() {
        notify(List.of("systemd-notify", "STOPPING=1"));
    }

    /** Tells the unit's watchdog that the daemon works. */
    static void notifyAlive() {
        notify(List.of("systemd-notify", "WATCHDOG=1"));
    }

    private static void notify(List<String> command) {
        if (System.getenv("NOTIFY_SOCKET") == null) {
            return;
        }
        try {
            Process process = new ProcessBuilder(command).inheritIO().start();
            if (!process.waitFor(WAIT_S, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                LOG.warn("systemd-notify: did not end within {} s", WAIT_S);
            }
        } catch (IOException e) {
            LOG.warn("systemd-notify: {}; install systemd, or set Type=exec in the unit", e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
