package org.cloister.ctl.host;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A job step's wait for its VM. agent-host may be started anew meanwhile: the VM runs on, and the wait goes on with the next
 * one. A phase that was heard says that there may be a VM; before the first there is none, and the ticket can be asked for
 * again.
 */
final class VmWaiter {
    private static final long AGAIN_MS = 500;

    private final HostSocket socket;
    private final String ticket;
    private final Duration patience;
    private final Consumer<JsonNode> phases;
    private final Consumer<String> warnings;
    private boolean begun;

    // Guarded by this object's monitor.
    private boolean stopping;
    private @Nullable HostConnection current;

    /**
     * @param patience until agent-host is there, before there is a VM; then there is no limit but the job's
     * @param phases hears of each as it is reached
     */
    VmWaiter(
            HostSocket socket, String ticket, Duration patience, Consumer<JsonNode> phases, Consumer<String> warnings) {
        this.socket = socket;
        this.ticket = ticket;
        this.patience = patience;
        this.phases = phases;
        this.warnings = warnings;
    }

    /** Returns when the VM has ended. */
    VmExit await() throws InterruptedException {
        long lostNs = System.nanoTime();
        boolean warned = false;
        while (true) {
            String why;
            try (HostConnection connection = socket.open()) {
                warned = false;
                Optional<VmExit> end = hear(connection);
                if (end.isPresent()) {
                    return end.get();
                }
                lostNs = System.nanoTime();
                why = "agent-host: want an answer, have the connection's end; see systemctl status agent-host";
            } catch (IOException e) {
                why = String.valueOf(e.getMessage());
            } finally {
                left();
            }
            if (!begun && (isStopping() || System.nanoTime() - lostNs >= patience.toNanos())) {
                return VmExit.unavailable(why);
            }
            if (!warned) {
                warnings.accept(why + (begun ? "; the VM goes on, and this waits" : "; this waits"));
                warned = true;
            }
            Thread.sleep(AGAIN_MS);
        }
    }

    /** The VM is to end; its end comes as ever. From any thread. */
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
                // It is lost: the next one says it again.
                return;
            }
        }
    }

    private Optional<VmExit> hear(HostConnection connection) throws IOException {
        ObjectNode request = HostSocket.request("run").put("ticket", ticket).put("again", begun);
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
                begun = true;
                phases.accept(line.get().path("phase"));
            }
        }
        return Optional.empty();
    }

    /** @return whether a stop is to be said that nobody heard */
    private synchronized boolean entered(HostConnection connection) {
        current = connection;
        return stopping;
    }

    private synchronized void left() {
        current = null;
    }

    private synchronized boolean isStopping() {
        return stopping;
    }
}
