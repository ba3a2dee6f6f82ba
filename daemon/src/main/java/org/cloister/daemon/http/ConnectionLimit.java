package org.cloister.daemon.http;

import io.netty.channel.Channel;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

/** Limits a listener's connections: beyond the limit the oldest is closed. Thread-safe. */
@SuppressWarnings("FutureReturnValueIgnored") // a closed connection needs no further handling
final class ConnectionLimit {
    private final int most;
    private final Set<Channel> open = new LinkedHashSet<>();

    ConnectionLimit(int most) {
        this.most = most;
    }

    void admit(Channel connection) {
        Channel away = null;
        synchronized (this) {
            open.add(connection);
            if (open.size() > most) {
                Iterator<Channel> oldest = open.iterator();
                away = oldest.next();
                oldest.remove();
            }
        }
        if (away != null) {
            away.close();
        }
        connection.closeFuture().addListener(closed -> remove(connection));
    }

    private synchronized void remove(Channel connection) {
        open.remove(connection);
    }
}
