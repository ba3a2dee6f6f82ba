package org.cloister.host.libvirt;

import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.libvirt.Error;
import org.libvirt.LibvirtException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps one connection to libvirtd open, reconnects after a restart of libvirtd, and reports the loss and the return.
 */
final class LibvirtConnection implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LibvirtConnection.class);
    /** Pause between attempts: an attempt on a local socket costs nothing, and libvirtd is back within a second. */
    private static final long RETRY_MILLIS = 250;

    private final String uri;
    private final BoundedCalls calls;
    /** Connects, and calls the listener with one event at a time. */
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread daemon = new Thread(work, "libvirt-link");
        daemon.setDaemon(true);
        return daemon;
    });

    private @Nullable LibvirtSession session;
    private boolean closed;
    private volatile Consumer<HypervisorEvent> listener = event -> {};

    /** Connects; makes one attempt before it returns. */
    LibvirtConnection(String uri, BoundedCalls calls) {
        this.uri = uri;
        this.calls = calls;
        LibvirtEventLoop.ensure();
        connect();
    }

    /** Query on a connection, which it must not keep. */
    interface Query<T> {
        T of(LibvirtSession.NativeConnection connection) throws LibvirtException, IOException;
    }

    /** Runs a query on the caller's thread, without a time limit. */
    <T> T ask(String what, Query<T> query) throws IOException {
        LibvirtSession current = current(what);
        try {
            return query.of(current.connection());
        } catch (LibvirtException e) {
            throw classify(what, current, e);
        } finally {
            current.release();
        }
    }

    void setListener(Consumer<HypervisorEvent> newListener) {
        listener = newListener;
    }

    @Override
    public void close() {
        LibvirtSession last;
        synchronized (this) {
            closed = true;
            last = session;
            session = null;
        }
        thread.shutdownNow();
        if (last != null) {
            try {
                calls.within("disconnect", () -> {
                    last.retire();
                    return true;
                });
            } catch (ExecutionException | HypervisorUnavailable e) {
                // libvirtd was notified of the disconnect and need not answer.
                LOG.debug("libvirtd: disconnect failed uri={} reason={}", uri, e.getMessage());
            }
        }
    }

    private synchronized LibvirtSession current(String what) throws HypervisorUnavailable {
        if (session == null || !session.acquire()) {
            throw new HypervisorUnavailable(
                    "libvirt: " + what + ": no connection to " + uri + "; check libvirtd on this host");
        }
        return session;
    }

    /**
     * Classifies an error. If the connection was lost, the outcome of the call is unknown; if it is alive, libvirtd
     * refused the call.
     */
    private IOException classify(String what, LibvirtSession current, LibvirtException e) {
        Error error = e.getError();
        boolean ofConnection = error.getDomain() == Error.ErrorDomain.VIR_FROM_RPC
                || error.getDomain() == Error.ErrorDomain.VIR_FROM_REMOTE
                || error.getCode() == Error.ErrorNumber.VIR_ERR_OPERATION_TIMEOUT;
        if (ofConnection || !isAlive(current)) {
            if (!isAlive(current)) {
                onLost(current);
            }
            return BoundedCalls.unavailable(what, String.valueOf(e.getMessage()), e);
        }
        HypervisorRefused refused = new HypervisorRefused("libvirt: " + what + ": " + e.getMessage());
        refused.initCause(e);
        return refused;
    }

    /** Returns whether the connection is alive as far as this end knows; sends no query. */
    private static boolean isAlive(LibvirtSession current) {
        try {
            return current.connection().isAlive();
        } catch (LibvirtException e) {
            return false;
        }
    }

    private void onLost(LibvirtSession which) {
        synchronized (this) {
            if (session != which) {
                return;
            }
            session = null;
            thread.execute(() -> {
                which.retire();
                LOG.warn("libvirtd: connection lost uri={}", uri);
                listener.accept(new HypervisorEvent.ConnectionLost("connection to " + uri + " lost"));
                connect();
            });
        }
    }

    private void connect() {
        try {
            calls.within("connect", () -> {
                adopt(LibvirtSession.open(uri, this::notifyListener, this::onLost));
                return true;
            });
        } catch (ExecutionException | HypervisorUnavailable e) {
            LOG.debug("libvirtd: no connection uri={} reason={}", uri, e.getMessage());
            scheduleReconnect();
        }
    }

    /** Adopts a new connection, unless another one exists or this was closed meanwhile. */
    private void adopt(LibvirtSession opened) {
        synchronized (this) {
            if (!closed && session == null) {
                session = opened;
                LOG.info("libvirtd: connected uri={}", uri);
                notifyListener(new HypervisorEvent.ConnectionRestored());
                return;
            }
        }
        opened.retire();
    }

    private synchronized void scheduleReconnect() {
        if (!closed) {
            Future<?> unused = thread.schedule(
                    () -> {
                        if (!connected()) {
                            connect();
                        }
                    },
                    RETRY_MILLIS,
                    TimeUnit.MILLISECONDS);
        }
    }

    private synchronized boolean connected() {
        return session != null;
    }

    private synchronized void notifyListener(HypervisorEvent event) {
        if (!closed) {
            thread.execute(() -> listener.accept(event));
        }
    }
}
