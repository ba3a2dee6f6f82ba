package org.cloister.vm.worker.steps;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;

/** The port at which workers reach slurmctld: that of the filter before it. */
record ControllerPort(InetAddress address, int port) {
    private static final Duration LIMIT = Duration.ofSeconds(3);

    /** Returns whether it takes a connection, and so whether the filter runs. */
    boolean answers() {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(address, port), (int) LIMIT.toMillis());
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
