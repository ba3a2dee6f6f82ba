package org.cloister.host.libvirt;

import java.util.Set;
import java.util.function.Consumer;
import org.libvirt.Connect;
import org.libvirt.LibvirtException;
import org.libvirt.event.DomainEventType;
import org.libvirt.event.LifecycleListener;
import org.libvirt.event.StoppedDetail;
import org.libvirt.jna.ConnectionPointer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connection to libvirtd. libvirt owns its memory: it is closed when the last call on it has returned, because a call
 * in progress would otherwise use freed memory.
 */
final class LibvirtSession {
    private static final Logger LOG = LoggerFactory.getLogger(LibvirtSession.class);

    /**
     * Details of STOPPED that count as a death (virDomainEventStoppedDetailType); a process that vanishes is reported
     * as FAILED.
     */
    private static final Set<Enum<?>> DEATHS =
            Set.of(StoppedDetail.DESTROYED, StoppedDetail.CRASHED, StoppedDetail.FAILED);

    private final NativeConnection connection;
    private final LifecycleListener changes;
    /** Number of calls in progress, plus one until the connection is retired. */
    private int users = 1;

    private boolean retired;

    private LibvirtSession(NativeConnection connection, LifecycleListener changes) {
        this.connection = connection;
        this.changes = changes;
    }

    /**
     * Opens a connection.
     *
     * @param changes called on libvirt's event thread, and must return soon
     * @param onClose called on the same thread when libvirtd has closed the connection
     */
    static LibvirtSession open(String uri, Consumer<HypervisorEvent> changes, Consumer<LibvirtSession> onClose)
            throws LibvirtException {
        LibvirtSession session = new LibvirtSession(new NativeConnection(uri), listener(changes));
        boolean whole = false;
        try {
            session.connection.registerCloseListener((connect, reason) -> onClose.accept(session));
            session.connection.addLifecycleListener(session.changes);
            whole = true;
        } finally {
            if (!whole) {
                session.retire();
            }
        }
        return session;
    }

    /**
     * Acquires the connection for a call.
     *
     * @return whether it is usable; it then stays open until {@link #release}
     */
    synchronized boolean acquire() {
        if (retired) {
            return false;
        }
        users++;
        return true;
    }

    void release() {
        if (isLast()) {
            closeWithListeners();
        }
    }

    /** Closes the connection to further calls. */
    void retire() {
        synchronized (this) {
            if (retired) {
                return;
            }
            retired = true;
        }
        release();
    }

    /** Returns the connection; call it between {@link #acquire} and {@link #release} only. */
    NativeConnection connection() {
        return connection;
    }

    private synchronized boolean isLast() {
        users--;
        return users == 0;
    }

    /**
     * Closes the connection, its listeners first: each keeps the connection open in libvirt, and libvirt would call
     * objects that Java has already collected. If libvirtd is gone, their removal fails there, but takes effect on this
     * side.
     */
    private void closeWithListeners() {
        attempt("remove the listener for domain events", () -> connection.removeLifecycleListener(changes));
        attempt("remove the listener for the connection's end", connection::unregisterCloseListener);
        attempt("close", () -> {
            int others = connection.close();
            if (others > 0) {
                LOG.warn("libvirtd: connection stays open in libvirt references={}", others);
            }
        });
    }

    private static void attempt(String what, CloseStep step) {
        try {
            step.run();
        } catch (LibvirtException e) {
            LOG.debug("libvirtd: disconnect step failed step=\"{}\" reason={}", what, e.getMessage());
        }
    }

    private static LifecycleListener listener(Consumer<HypervisorEvent> changes) {
        return (domain, event) -> {
            try {
                String uuid = domain.getUUIDString();
                domain.free();
                changes.accept(
                        event.getType() == DomainEventType.STOPPED
                                ? new HypervisorEvent.DomainEnded(uuid, DEATHS.contains(event.getDetail()))
                                : new HypervisorEvent.DomainChanged(uuid));
            } catch (LibvirtException e) {
                throw new IllegalStateException("a domain's uuid, which libvirt sent: " + e.getMessage(), e);
            }
            return 0;
        };
    }

    private interface CloseStep {
        void run() throws LibvirtException;
    }

    /** Exposes the pointer of a connection, for calls that libvirt-java does not have. */
    static final class NativeConnection extends Connect {
        private NativeConnection(String uri) throws LibvirtException {
            super(uri);
        }

        ConnectionPointer pointer() {
            return vcp;
        }
    }
}
