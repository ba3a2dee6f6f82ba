package org.cloister.daemon.http;

import io.netty.channel.Channel;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

/** Connections of a listener, so many and no more: at the limit the oldest gives way. From any thread. */
@SuppressWarnings("FutureReturnValueIgnored") // a connection that is closed needs no more
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
        connection.closeFuture().addListener(closed -> leave(connection));
    }

    private synchronized void leave(Channel connection) {
        open.remove(connection);
    }
}
