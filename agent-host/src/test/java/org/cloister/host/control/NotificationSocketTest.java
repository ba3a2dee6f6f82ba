package org.cloister.host.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(20)
class NotificationSocketTest {
    private static final String STATE = "READY=1\nSTATUS=serving as n1";

    @TempDir
    private Path folder;

    private static String received(String socket) throws IOException {
        byte[] address = UnixSocketAddress.bytes(socket);
        int fd = SocketLibC.socket(SocketLibC.AF_UNIX, SocketLibC.SOCK_DGRAM | SocketLibC.SOCK_CLOEXEC, 0);
        try {
            SocketLibC.bind(fd, address, address.length);
            NotificationSocket.send(socket, STATE);
            byte[] bytes = new byte[1000];
            int length = (int) SocketLibC.recv(fd, bytes, bytes.length, 0);
            return new String(bytes, 0, length, StandardCharsets.UTF_8);
        } finally {
            SocketLibC.close(fd);
        }
    }

    @Test
    void a_notification_arrives_whole_at_a_path_and_in_the_abstract_namespace() throws IOException {
        assertThat(received(folder.resolve("notify").toString())).isEqualTo(STATE);
        assertThat(received("@cloister-" + folder.getFileName())).isEqualTo(STATE);
    }

    @Test
    void a_socket_that_is_missing_or_has_no_valid_name_is_named() {
        String missing = folder.resolve("missing").toString();
        assertThatThrownBy(() -> NotificationSocket.send(missing, STATE))
                .isInstanceOf(IOException.class)
                .hasMessage(missing + ": No such file or directory");
        assertThatThrownBy(() -> NotificationSocket.send("/" + "x".repeat(107), STATE))
                .hasMessageEndingWith("expected a path of 1 to 107 bytes, got 108");
        assertThatThrownBy(() -> NotificationSocket.send("", STATE))
                .hasMessageEndingWith("expected a path of 1 to 107 bytes, got 0");
    }
}
