package org.cloister.daemon;

import java.io.IOException;
import java.net.SocketException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/** A Unix socket's file where nobody answers: of a process that is no more. */
public final class StaleSocketFile {
    private StaleSocketFile() {}

    /**
     * Returns when there is no file of the name, so that it can be bound.
     *
     * @throws IOException if somebody answers there
     */
    public static void clear(Path socket) throws IOException {
        if (answers(socket)) {
            throw new IOException(socket + ": another process answers there; end it, or set socket to another file");
        }
        Files.deleteIfExists(socket);
    }

    private static boolean answers(Path socket) throws IOException {
        try {
            SocketChannel.open(UnixDomainSocketAddress.of(socket)).close();
            return true;
        } catch (SocketException e) {
            // No such file, or nobody behind it.
            return false;
        }
    }
}
