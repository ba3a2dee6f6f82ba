package org.cloister.daemon;

import java.io.IOException;
import java.net.SocketException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/** Removes the file of a Unix socket that a process which has ended left behind. */
public final class StaleSocketFile {
    private StaleSocketFile() {}

    /**
     * Deletes the file if there is one, so that the socket can be bound.
     *
     * @throws IOException if a process answers there
     */
    public static void clear(Path socket) throws IOException {
        if (answers(socket)) {
            throw new IOException(
                    socket + ": another process listens on it; stop that process, or set socket to another file");
        }
        Files.deleteIfExists(socket);
    }

    private static boolean answers(Path socket) throws IOException {
        try {
            SocketChannel.open(UnixDomainSocketAddress.of(socket)).close();
            return true;
        } catch (SocketException e) {
            // There is no such file, or no process listens on it.
            return false;
        }
    }
}
