package org.cloister.host.control;

import com.sun.jna.LastErrorException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.cloister.base.encoding.MalformedException;

/**
 * Connection of one caller, with lines in both directions. One thread reads and closes it; any thread may send and shut
 * it down.
 */
final class ControlConnection implements AutoCloseable {
    static final int MAX_LINE = 4096;

    private static final Duration SEND_TIMEOUT = Duration.ofSeconds(5);
    /** Bytes of the kernel's maximum of groups (NGROUPS_MAX), four for each. */
    private static final int MAX_GROUPS_BYTES = 4 * 65536;

    private static final int UCRED_BYTES = 12;

    private final int fd;
    private final byte[] buffer = new byte[MAX_LINE];
    private int from;
    private int to;
    // Guarded by this object's monitor.
    private boolean closed;

    ControlConnection(int fd) {
        this.fd = fd;
        setTimeout(SocketLibC.SO_SNDTIMEO, SEND_TIMEOUT);
    }

    PeerCredentials peerCredentials() throws IOException {
        ByteBuffer ucred = option(SocketLibC.SO_PEERCRED, UCRED_BYTES);
        int pid = ucred.getInt();
        int uid = ucred.getInt();
        int gid = ucred.getInt();
        if (pid <= 0) {
            throw new IOException("the caller is in another PID namespace; run the command on this host itself");
        }
        Set<Integer> groups = new HashSet<>(Set.of(gid));
        ByteBuffer all = option(SocketLibC.SO_PEERGROUPS, MAX_GROUPS_BYTES);
        while (all.hasRemaining()) {
            groups.add(all.getInt());
        }
        return new PeerCredentials(pid, uid, groups);
    }

    /**
     * Sets the time limit of each following read.
     *
     * @param limit in whole seconds; zero for none
     */
    void setReadTimeout(Duration limit) {
        setTimeout(SocketLibC.SO_RCVTIMEO, limit);
    }

    /**
     * Reads one line, without its newline.
     *
     * @return empty when the caller has closed its end or has died
     * @throws MalformedException if a line is longer than {@link #MAX_LINE}
     * @throws IOException if the read times out
     */
    Optional<byte[]> readLine() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        while (true) {
            for (int i = from; i < to; i++) {
                if (buffer[i] == '\n') {
                    line.write(buffer, from, i - from);
                    from = i + 1;
                    return Optional.of(line.toByteArray());
                }
            }
            line.write(buffer, from, to - from);
            from = to;
            if (line.size() > MAX_LINE) {
                throw new MalformedException("line: want at most " + MAX_LINE + " bytes, have more");
            }
            if (!fill()) {
                return Optional.empty();
            }
        }
    }

    private boolean fill() throws IOException {
        while (true) {
            try {
                long n = SocketLibC.recv(fd, buffer, buffer.length, 0);
                from = 0;
                to = (int) n;
                return n > 0;
            } catch (LastErrorException e) {
                if (e.getErrorCode() == SocketLibC.EAGAIN) {
                    throw new IOException("the caller sent no request in time", e);
                }
                if (e.getErrorCode() != SocketLibC.EINTR) {
                    // The caller is gone; what it had not read is lost.
                    return false;
                }
            }
        }
    }

    /**
     * Sends one line.
     *
     * @return false if the caller is gone, or does not read
     */
    synchronized boolean send(String line) {
        byte[] rest = (line + "\n").getBytes(StandardCharsets.UTF_8);
        while (!closed && rest.length > 0) {
            try {
                long n = SocketLibC.send(fd, rest, rest.length, SocketLibC.MSG_NOSIGNAL);
                rest = Arrays.copyOfRange(rest, (int) n, rest.length);
            } catch (LastErrorException e) {
                if (e.getErrorCode() != SocketLibC.EINTR) {
                    shutDown();
                    return false;
                }
            }
        }
        return rest.length == 0;
    }

    /** Shuts the connection down: the reader sees its end, and data that was sent before still arrives. */
    synchronized void shutDown() {
        if (!closed) {
            try {
                SocketLibC.shutdown(fd, SocketLibC.SHUT_RDWR);
            } catch (LastErrorException e) {
                // The caller closed its end first.
                return;
            }
        }
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            SocketLibC.close(fd);
        }
    }

    private void setTimeout(int option, Duration limit) {
        byte[] timeval = ByteBuffer.allocate(2 * Long.BYTES)
                .order(ByteOrder.nativeOrder())
                .putLong(limit.toSeconds())
                .putLong(0)
                .array();
        SocketLibC.setsockopt(fd, SocketLibC.SOL_SOCKET, option, timeval, timeval.length);
    }

    private ByteBuffer option(int name, int maxBytes) throws IOException {
        byte[] value = new byte[maxBytes];
        int[] length = {maxBytes};
        try {
            SocketLibC.getsockopt(fd, SocketLibC.SOL_SOCKET, name, value, length);
        } catch (LastErrorException e) {
            throw new IOException("the caller's credentials cannot be read: " + SocketLibC.text(e), e);
        }
        return ByteBuffer.wrap(value, 0, length[0]).order(ByteOrder.nativeOrder());
    }
}
