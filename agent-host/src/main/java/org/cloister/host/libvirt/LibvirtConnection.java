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

/** Keeps one connection to libvirtd open, opens it again when libvirtd was restarted, and tells of both. */
final class LibvirtConnection implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LibvirtConnection.class);
    /** Asking for a socket on this host costs nothing, and a libvirtd is back within a second. */
    private static final long RETRY_MILLIS = 250;

    private final String uri;
    private final BoundedCalls calls;
    /** Connects, and tells the listener of everything, one thing after the other. */
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread made = new Thread(work, "libvirt-link");
        made.setDaemon(true);
        return made;
    });

    private @Nullable LibvirtSession session;
    private boolean closed;
    private volatile Consumer<HypervisorEvent> listener = event -> {};

    /** Tries once before it returns. */
    LibvirtConnection(String uri, BoundedCalls calls) {
        this.uri = uri;
        this.calls = calls;
        LibvirtEventLoop.ensure();
        connect();
    }

    /** Something to do with a connection, which it may not keep. */
    interface Query<T> {
        T of(LibvirtSession.NativeConnection connection) throws LibvirtException, IOException;
    }

    /** In the caller's thread, however long it takes. */
    <T> T ask(String what, Query<T> asking) throws IOException {
        LibvirtSession current = current(what);
        try {
            return asking.of(current.connection());
        } catch (LibvirtException e) {
            throw judged(what, current, e);
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
                // It is told that we go, and need not answer.
                LOG.debug("libvirtd: no farewell uri={} why={}", uri, e.getMessage());
            }
        }
    }

    private synchronized LibvirtSession current(String what) throws HypervisorUnavailable {
        if (session == null || !session.acquire()) {
            throw new HypervisorUnavailable(
                    "libvirt: " + what + ": no connection to " + uri + "; look at libvirtd on this host");
        }
        return session;
    }

    /** A connection that has ended says nothing of what was asked; one that lives has said no. */
    private IOException judged(String what, LibvirtSession current, LibvirtException e) {
        Error error = e.getError();
        boolean ofConnection = error.getDomain() == Error.ErrorDomain.VIR_FROM_RPC
                || error.getDomain() == Error.ErrorDomain.VIR_FROM_REMOTE
                || error.getCode() == Error.ErrorNumber.VIR_ERR_OPERATION_TIMEOUT;
        if (ofConnection || !isAlive(current)) {
            if (!isAlive(current)) {
                lost(current);
            }
            return BoundedCalls.unavailable(what, String.valueOf(e.getMessage()), e);
        }
        HypervisorRefused refused = new HypervisorRefused("libvirt: " + what + ": " + e.getMessage());
        refused.initCause(e);
        return refused;
    }

    /** By what this end knows; nothing is asked. */
    private static boolean isAlive(LibvirtSession current) {
        try {
            return current.connection().isAlive();
        } catch (LibvirtException e) {
            return false;
        }
    }

    private void lost(LibvirtSession which) {
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
                adopt(LibvirtSession.open(uri, this::tell, this::lost));
                return true;
            });
        } catch (ExecutionException | HypervisorUnavailable e) {
            LOG.debug("libvirtd: no connection uri={} why={}", uri, e.getMessage());
            again();
        }
    }

    /** A connection that came late may find another, or nobody who wants it. */
    private void adopt(LibvirtSession fresh) {
        synchronized (this) {
            if (!closed && session == null) {
                session = fresh;
                LOG.info("libvirtd: connected uri={}", uri);
                tell(new HypervisorEvent.ConnectionRestored());
                return;
            }
        }
        fresh.retire();
    }

    private synchronized void again() {
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

    private synchronized void tell(HypervisorEvent event) {
        if (!closed) {
            thread.execute(() -> listener.accept(event));
        }
    }
}
