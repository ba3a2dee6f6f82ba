package org.cloister.ctl.host;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Waits for the VM of a job step. agent-host may restart meanwhile: the VM keeps running, and the wait continues with
 * the next agent-host. A VM may exist once the first phase was received; before that, the ticket can be requested
 * again.
 */
final class VmWaiter {
    private static final long AGAIN_MS = 500;

    private final HostSocket socket;
    private final String ticket;
    private final Duration timeout;
    private final Consumer<JsonNode> phases;
    private final Consumer<String> warnings;
    private boolean isStarted;

    // Guarded by this object's monitor.
    private boolean stopping;
    private @Nullable HostConnection current;

    /**
     * @param timeout time to wait for agent-host before there is a VM; afterwards only the job's limit applies
     * @param phases receives each phase as it is reached
     */
    VmWaiter(HostSocket socket, String ticket, Duration timeout, Consumer<JsonNode> phases, Consumer<String> warnings) {
        this.socket = socket;
        this.ticket = ticket;
        this.timeout = timeout;
        this.phases = phases;
        this.warnings = warnings;
    }

    /** Waits until the VM has ended and returns its end. */
    VmExit await() throws InterruptedException {
        long lostNs = System.nanoTime();
        boolean warned = false;
        while (true) {
            String why;
            try (HostConnection connection = socket.open()) {
                warned = false;
                Optional<VmExit> end = receive(connection);
                if (end.isPresent()) {
                    return end.get();
                }
                lostNs = System.nanoTime();
                why = "agent-host closed the connection without an answer; see systemctl status agent-host";
            } catch (IOException e) {
                why = String.valueOf(e.getMessage());
            } finally {
                onClosed();
            }
            if (!isStarted && (isStopping() || System.nanoTime() - lostNs >= timeout.toNanos())) {
                return VmExit.unavailable(why);
            }
            if (!warned) {
                warnings.accept(
                        why + (isStarted ? "; the VM keeps running, and this command waits" : "; this command waits"));
                warned = true;
            }
            Thread.sleep(AGAIN_MS);
        }
    }

    /** Requests the end of the VM; {@link #await} returns it as usual. Thread-safe. */
    void stop() {
        HostConnection connection;
        synchronized (this) {
            stopping = true;
            connection = current;
        }
        if (connection != null) {
            try {
                connection.send(HostSocket.request("stop"));
            } catch (IOException e) {
                // The connection is lost; the next one repeats the request.
                return;
            }
        }
    }

    private Optional<VmExit> receive(HostConnection connection) throws IOException {
        ObjectNode request = HostSocket.request("run").put("ticket", ticket).put("again", isStarted);
        connection.send(request);
        if (entered(connection)) {
            connection.send(HostSocket.request("stop"));
        }
        for (Optional<ObjectNode> line = connection.receive(); line.isPresent(); line = connection.receive()) {
            if (line.get().has("end")) {
                return Optional.of(VmExit.of(line.get().path("end")));
            }
            if (line.get().has("refused")) {
                return Optional.of(VmExit.refused(line.get().path("refused")));
            }
            if (line.get().has("phase")) {
                isStarted = true;
                phases.accept(line.get().path("phase"));
            }
        }
        return Optional.empty();
    }

    /**
     * Makes a connection the current one.
     *
     * @return whether an earlier stop request must be sent on this connection
     */
    private synchronized boolean entered(HostConnection connection) {
        current = connection;
        return stopping;
    }

    private synchronized void onClosed() {
        current = null;
    }

    private synchronized boolean isStopping() {
        return stopping;
    }
}
