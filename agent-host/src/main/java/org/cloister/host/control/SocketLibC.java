package org.cloister.host.control;

import com.sun.jna.LastErrorException;
import com.sun.jna.Native;
import com.sun.jna.Platform;
import com.sun.jna.Pointer;
import org.jspecify.annotations.Nullable;

/**
 * C library functions that {@link ControlSocket}, {@link NotificationSocket} and {@link SystemAccounts} call, since the
 * JDK does not report a peer's process id and has no datagrams on Unix sockets.
 */
final class SocketLibC {
    static final int AF_UNIX = 1;
    static final int SOCK_STREAM = 1;
    static final int SOCK_DGRAM = 2;
    static final int SOCK_CLOEXEC = 0x80000;
    static final int SOL_SOCKET = 1;
    static final int SO_PEERCRED = 17;
    static final int SO_RCVTIMEO = 20;
    static final int SO_SNDTIMEO = 21;
    static final int SO_PEERGROUPS = 59;
    static final int SHUT_RDWR = 2;
    /** Makes a send to a closed connection an error instead of a signal. */
    static final int MSG_NOSIGNAL = 0x4000;

    static final int EINTR = 4;
    static final int EAGAIN = 11;

    static {
        Native.register(Platform.C_LIBRARY_NAME);
    }

    private SocketLibC() {}

    static native int socket(int domain, int type, int protocol) throws LastErrorException;

    static native int bind(int fd, byte[] address, int length) throws LastErrorException;

    static native int listen(int fd, int backlog) throws LastErrorException;

    static native int accept4(int fd, @Nullable Pointer address, @Nullable Pointer length, int flags)
            throws LastErrorException;

    static native int getsockopt(int fd, int level, int name, byte[] value, int[] length) throws LastErrorException;

    static native int setsockopt(int fd, int level, int name, byte[] value, int length) throws LastErrorException;

    /** Receives bytes. On the supported platforms, size_t and ssize_t are as long as Java's long. */
    static native long recv(int fd, byte[] bytes, long length, int flags) throws LastErrorException;

    static native long send(int fd, byte[] bytes, long length, int flags) throws LastErrorException;

    static native long sendto(int fd, byte[] bytes, long length, int flags, byte[] address, int addressLength)
            throws LastErrorException;

    static native int shutdown(int fd, int how) throws LastErrorException;

    static native int close(int fd) throws LastErrorException;

    static native @Nullable Pointer getpwnam(String name);

    static native @Nullable Pointer getgrnam(String name);

    static native Pointer strerror(int error);

    static String text(LastErrorException e) {
        return strerror(e.getErrorCode()).getString(0);
    }
}
