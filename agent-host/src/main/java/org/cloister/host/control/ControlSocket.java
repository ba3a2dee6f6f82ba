package org.cloister.host.control;

import com.sun.jna.LastErrorException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import org.cloister.daemon.StaleSocketFile;

/**
 * Unix socket on which callers connect. Every user may connect, because the kernel reports each caller's credentials.
 * One thread accepts.
 */
final class ControlSocket implements AutoCloseable {
    private static final int BACKLOG = 64;

    private final Path path;
    private final int fd;
    private boolean stopped;
    private boolean closed;

    private ControlSocket(Path path, int fd) {
        this.path = path;
        this.fd = fd;
    }

    /** Creates the socket. Replaces a socket that nothing answers on, since its process is gone. */
    static ControlSocket listen(Path path) throws IOException {
        byte[] address = address(path);
        StaleSocketFile.clear(path);
        try {
            int fd = SocketLibC.socket(SocketLibC.AF_UNIX, SocketLibC.SOCK_STREAM | SocketLibC.SOCK_CLOEXEC, 0);
            ControlSocket socket = new ControlSocket(path, fd);
            boolean good = false;
            try {
                SocketLibC.bind(fd, address, address.length);
                Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-rw-rw-"));
                SocketLibC.listen(fd, BACKLOG);
                good = true;
            } finally {
                if (!good) {
                    SocketLibC.close(fd);
                }
            }
            return socket;
        } catch (LastErrorException e) {
            throw new IOException("cannot listen on " + path + ": " + SocketLibC.text(e), e);
        }
    }

    /**
     * Waits for the next connection.
     *
     * @return empty once {@link #stop} was called
     */
    Optional<ControlConnection> accept() throws IOException {
        while (true) {
            try {
                int peer = SocketLibC.accept4(fd, null, null, SocketLibC.SOCK_CLOEXEC);
                if (isStopped()) {
                    SocketLibC.close(peer);
                    return Optional.empty();
                }
                return Optional.of(new ControlConnection(peer));
            } catch (LastErrorException e) {
                if (isStopped()) {
                    return Optional.empty();
                }
                if (e.getErrorCode() != SocketLibC.EINTR) {
                    throw new IOException(path + ": accept: " + SocketLibC.text(e), e);
                }
            }
        }
    }

    /** Wakes the accepting thread; any thread may call. */
    synchronized void stop() {
        if (!stopped) {
            stopped = true;
            SocketLibC.shutdown(fd, SocketLibC.SHUT_RDWR);
        }
    }

    private synchronized boolean isStopped() {
        return stopped;
    }

    /** Closes the socket, once: its number may be another file then. Call it when no thread accepts any longer. */
    @Override
    public synchronized void close() throws IOException {
        if (closed) {
            return;
        }
        closed = true;
        stop();
        SocketLibC.close(fd);
        Files.deleteIfExists(path);
    }

    private static byte[] address(Path path) throws IOException {
        try {
            return UnixSocketAddress.bytes(path.toString());
        } catch (IOException e) {
            throw new IOException(e.getMessage() + "; set socket", e);
        }
    }
}
