package org.cloister.host.control;

import com.sun.jna.LastErrorException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * Sends to systemd's notification socket (sd_notify(3)). The datagram comes from this process itself, so that its unit
 * can refuse those of its children.
 */
public final class NotificationSocket {
    private NotificationSocket() {}

    /**
     * Sends a notification.
     *
     * @param socket value of {@code NOTIFY_SOCKET}
     * @param state lines, each {@code NAME=VALUE}
     */
    public static void send(String socket, String state) throws IOException {
        byte[] address = UnixSocketAddress.bytes(socket);
        byte[] text = state.getBytes(StandardCharsets.UTF_8);
        try {
            int fd = SocketLibC.socket(SocketLibC.AF_UNIX, SocketLibC.SOCK_DGRAM | SocketLibC.SOCK_CLOEXEC, 0);
            try {
                SocketLibC.sendto(fd, text, text.length, SocketLibC.MSG_NOSIGNAL, address, address.length);
            } finally {
                SocketLibC.close(fd);
            }
        } catch (LastErrorException e) {
            throw new IOException(socket + ": " + SocketLibC.text(e), e);
        }
    }
}
