package org.cloister.host.control;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.cloister.host.vm.StartFailed;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves callers on the control socket, each on a thread of its own. Closing the server closes their connections and
 * stops no VM.
 */
public final class ControlServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ControlServer.class);
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration CLOSE_WITHIN = Duration.ofSeconds(5);
    /** Room for the most VMs that a ledger may have, and for some callers that only query. */
    private static final int MAX_CALLERS = 4096 + 64;
    /** Maximum number of callers that are not authorized yet. */
    private static final int MAX_WITHOUT_REQUEST = 64;
    /** Pause after a failed accept, such as when this process has no more file descriptors. */
    private static final Duration ACCEPT_RETRY = Duration.ofMillis(200);

    private final ControlSocket socket;
    private final CallerAuthorization authorization;
    private final CallerJobLookup jobLookup;
    private final HostOperations operations;
    private final Thread acceptor;
    private final CountDownLatch closing = new CountDownLatch(1);

    // Guarded by this object's monitor.
    private final Set<ControlConnection> callers = new HashSet<>();
    private int withoutRequest;

    private ControlServer(
            ControlSocket socket,
            CallerAuthorization authorization,
            CallerJobLookup jobLookup,
            HostOperations operations) {
        this.socket = socket;
        this.authorization = authorization;
        this.jobLookup = jobLookup;
        this.operations = operations;
        this.acceptor = new Thread(this::accept, "control-accept");
    }

    /**
     * Opens the control socket and starts to serve callers.
     *
     * @param group whose members may make every request except to run a VM, as root may
     * @param account the user whose job steps may run VMs
     * @throws IOException if this host knows no such group or user, or another process has the socket
     */
    public static ControlServer open(
            Path socket, String group, String account, CallerJobLookup jobLookup, HostOperations operations)
            throws IOException {
        return open(socket, CallerAuthorization.of(group, account), jobLookup, operations);
    }

    static ControlServer open(
            Path socket, CallerAuthorization authorization, CallerJobLookup jobLookup, HostOperations operations)
            throws IOException {
        ControlServer server = new ControlServer(ControlSocket.listen(socket), authorization, jobLookup, operations);
        server.acceptor.setDaemon(true);
        server.acceptor.start();
        return server;
    }

    private void accept() {
        while (true) {
            try {
                Optional<ControlConnection> next = socket.accept();
                if (next.isEmpty()) {
                    return;
                }
                begin(next.get());
            } catch (IOException e) {
                LOG.warn("{}", e.getMessage());
                if (pause()) {
                    return;
                }
            }
        }
    }

    /**
     * Pauses after a failed accept.
     *
     * @return whether the server should stop
     */
    private boolean pause() {
        try {
            return closing.await(ACCEPT_RETRY.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            return true;
        }
    }

    private void begin(ControlConnection caller) {
        synchronized (this) {
            if (isClosing() || withoutRequest >= MAX_WITHOUT_REQUEST || callers.size() >= MAX_CALLERS) {
                caller.send(ControlResponses.refusal("too many connections (" + callers.size() + ")", "retry later"));
                caller.close();
                return;
            }
            callers.add(caller);
            withoutRequest++;
        }
        Thread thread = new Thread(() -> serve(caller), "control-caller");
        thread.setDaemon(true);
        thread.start();
    }

    private void serve(ControlConnection caller) {
        AtomicBoolean requested = new AtomicBoolean();
        try {
            serve(caller, requested);
        } catch (OperationRefused e) {
            caller.send(ControlResponses.refusal(String.valueOf(e.getMessage()), e.hint()));
        } catch (StartFailed e) {
            caller.send(ControlResponses.refusal(e.text(), e.hint()));
        } catch (IOException e) {
            caller.send(ControlResponses.refusal(String.valueOf(e.getMessage()), ""));
        } catch (RuntimeException e) {
            LOG.error("a control request failed with an internal error", e);
            caller.send(ControlResponses.refusal("agent-host: internal error: " + e, "see agent-host's log"));
        } finally {
            onCallerClosed(caller, requested.get());
            caller.close();
        }
    }

    private void serve(ControlConnection caller, AtomicBoolean requested) throws OperationRefused, IOException {
        caller.setReadTimeout(REQUEST_TIMEOUT);
        PeerCredentials peer = caller.peerCredentials();
        authorization.requireEither(peer);
        Optional<byte[]> line = caller.readLine();
        if (line.isEmpty()) {
            return;
        }
        ControlRequest request = ControlRequest.parse(line.get());
        requirePermission(request, peer);
        requested.set(true);
        onRequest();
        if (request instanceof ControlRequest.Run run) {
            JobStepCaller jobStep = new JobStepCaller(peer.pid(), peer.uid(), jobLookup.jobOf(peer.pid()));
            new VmRunSession(caller, this::isClosing).serve(operations, jobStep, run);
        } else {
            caller.send(answer(request));
        }
    }

    private void requirePermission(ControlRequest request, PeerCredentials peer) throws OperationRefused {
        if (request instanceof ControlRequest.Run) {
            authorization.requireAccount(peer);
        } else {
            authorization.requireOperator(peer);
        }
    }

    private String answer(ControlRequest request) throws OperationRefused, IOException {
        if (request instanceof ControlRequest.ShowVms) {
            return ControlResponses.vms(operations.vms());
        }
        if (request instanceof ControlRequest.ShowLedger) {
            return ControlResponses.ledger(operations.ledger());
        }
        if (request instanceof ControlRequest.Stop stop) {
            operations.stop(stop.vm());
            return ControlResponses.stopped(stop.vm());
        }
        if (request instanceof ControlRequest.Render render) {
            return ControlResponses.rendering(operations.render(render.what()));
        }
        return ControlResponses.status(operations.status());
    }

    private synchronized void onRequest() {
        withoutRequest--;
    }

    private synchronized void onCallerClosed(ControlConnection caller, boolean requested) {
        callers.remove(caller);
        if (!requested) {
            withoutRequest--;
        }
        notifyAll();
    }

    private boolean isClosing() {
        return closing.getCount() == 0;
    }

    @Override
    public void close() throws IOException {
        synchronized (this) {
            closing.countDown();
            callers.forEach(ControlConnection::shutDown);
        }
        socket.stop();
        try {
            acceptor.join(CLOSE_WITHIN.toMillis());
            awaitCallers();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        socket.close();
    }

    private synchronized void awaitCallers() throws InterruptedException {
        long endNs = System.nanoTime() + CLOSE_WITHIN.toNanos();
        while (!callers.isEmpty()) {
            long leftMs = (endNs - System.nanoTime()) / 1_000_000;
            if (leftMs <= 0) {
                LOG.warn("{} control requests are still running", callers.size());
                return;
            }
            wait(leftMs);
        }
    }
}
