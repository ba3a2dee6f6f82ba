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
 * One connection to libvirtd, from its opening to its end. Its memory is libvirt's: it is closed when the last call in it has
 * come back, for a call that is still under way would use what is no longer there.
 */
final class LibvirtSession {
    private static final Logger LOG = LoggerFactory.getLogger(LibvirtSession.class);

    /** virDomainEventStoppedDetailType; of a process that goes without a word it is FAILED. */
    private static final Set<Enum<?>> DEATHS =
            Set.of(StoppedDetail.DESTROYED, StoppedDetail.CRASHED, StoppedDetail.FAILED);

    private final NativeConnection connection;
    private final LifecycleListener changes;
    /** Calls under way, and one for the connection's own life. */
    private int users = 1;

    private boolean retired;

    private LibvirtSession(NativeConnection connection, LifecycleListener changes) {
        this.connection = connection;
        this.changes = changes;
    }

    /**
     * @param changes told by libvirt's event thread, which must get back soon
     * @param onClose told by it when libvirtd has gone
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

    /** @return whether there is a connection, which then stays until {@link #release} */
    synchronized boolean acquire() {
        if (retired) {
            return false;
        }
        users++;
        return true;
    }

    void release() {
        if (isLast()) {
            end();
        }
    }

    /** Nobody enters any more. */
    void retire() {
        synchronized (this) {
            if (retired) {
                return;
            }
            retired = true;
        }
        release();
    }

    /** Between {@link #acquire} and {@link #release}. */
    NativeConnection connection() {
        return connection;
    }

    private synchronized boolean isLast() {
        users--;
        return users == 0;
    }

    /**
     * Each listener holds the connection open in libvirt, and libvirt would call what Java has thrown away by then: they go
     * first. When libvirtd is no longer there, its own end is refused, and ours has gone all the same.
     */
    private void end() {
        attempt("end of changes", () -> connection.removeLifecycleListener(changes));
        attempt("end of the listener of its end", connection::unregisterCloseListener);
        attempt("close", () -> {
            int others = connection.close();
            if (others > 0) {
                LOG.warn("libvirtd: connection stays open in libvirt references={}", others);
            }
        });
    }

    private static void attempt(String what, CloseStep ending) {
        try {
            ending.run();
        } catch (LibvirtException e) {
            LOG.debug("libvirtd: no farewell what=\"{}\" why={}", what, e.getMessage());
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

    /** What libvirt's own binding does not ask needs its pointer. */
    static final class NativeConnection extends Connect {
        private NativeConnection(String uri) throws LibvirtException {
            super(uri);
        }

        ConnectionPointer pointer() {
            return vcp;
        }
    }
}
