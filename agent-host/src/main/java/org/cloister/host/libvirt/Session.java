package org.cloister.host.libvirt;

import java.util.function.Consumer;
import org.libvirt.Connect;
import org.libvirt.LibvirtException;
import org.libvirt.event.DomainEventType;
import org.libvirt.jna.ConnectionPointer;

/**
 * One connection to libvirtd, from its opening to its end. Its memory is libvirt's: it is closed when the last call in it has
 * come back, for a call that is still under way would use what is no longer there.
 */
final class Session {
    private final Connection connection;
    /** Calls under way, and one for the connection's own life. */
    private int users = 1;

    private boolean retired;

    private Session(Connection connection) {
        this.connection = connection;
    }

    /**
     * @param changes told by libvirt's event thread, which must get back soon
     * @param onClose told by it when libvirtd has gone
     */
    static Session open(String uri, Consumer<HypervisorEvent> changes, Consumer<Session> onClose)
            throws LibvirtException {
        Connection connection = new Connection(uri);
        Session session = new Session(connection);
        boolean whole = false;
        try {
            connection.registerCloseListener((connect, reason) -> onClose.accept(session));
            connection.addLifecycleListener((domain, event) -> {
                try {
                    String uuid = domain.getUUIDString();
                    domain.free();
                    changes.accept(
                            event.getType() == DomainEventType.STOPPED
                                    ? new HypervisorEvent.Ended(uuid)
                                    : new HypervisorEvent.Changed(uuid));
                } catch (LibvirtException e) {
                    throw new IllegalStateException("a domain's uuid, which libvirt sent: " + e.getMessage(), e);
                }
                return 0;
            });
            whole = true;
        } finally {
            if (!whole) {
                session.retire();
            }
        }
        return session;
    }

    /** @return whether there is a connection, which then stays until {@link #leave} */
    synchronized boolean enter() {
        if (retired) {
            return false;
        }
        users++;
        return true;
    }

    synchronized void leave() {
        users--;
        if (users == 0) {
            try {
                connection.close();
            } catch (LibvirtException e) {
                // Nobody is on its other end any more, and our own end has gone all the same.
                throw new IllegalStateException("closing a connection to libvirtd: " + e.getMessage(), e);
            }
        }
    }

    /** Nobody enters any more. */
    synchronized void retire() {
        if (!retired) {
            retired = true;
            leave();
        }
    }

    /** Between {@link #enter} and {@link #leave}. */
    Connection connection() {
        return connection;
    }

    /** What libvirt's own binding does not ask needs its pointer. */
    static final class Connection extends Connect {
        private Connection(String uri) throws LibvirtException {
            super(uri);
        }

        ConnectionPointer pointer() {
            return vcp;
        }
    }
}
