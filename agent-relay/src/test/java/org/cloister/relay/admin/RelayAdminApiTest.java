package org.cloister.relay.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.cloister.daemon.http.AdminHttpServer;
import org.cloister.relay.links.CircuitRecorder;
import org.cloister.relay.links.RelayFixture;
import org.cloister.relay.links.TestAgent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
class RelayAdminApiTest {
    @TempDir
    private Path state;

    private RelayFixture fixture;
    private AdminHttpServer socket;
    private AdminHttpServer loopback;

    @BeforeEach
    void start() throws Exception {
        fixture = new RelayFixture(state);
        socket = fixture.relay.adminApi().listen(state.resolve("socket"), fixture.loops);
        loopback = fixture.relay
                .adminApi()
                .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), fixture.loops);
    }

    @AfterEach
    void stop() {
        socket.close();
        loopback.close();
        fixture.close();
    }

    private static String request(SocketAddress address, String request) throws IOException {
        try (SocketChannel channel = SocketChannel.open(address)) {
            channel.write(ByteBuffer.wrap((request + "\r\nHost: x\r\n\r\n").getBytes(StandardCharsets.US_ASCII)));
            ByteArrayOutputStream answer = new ByteArrayOutputStream();
            ByteBuffer piece = ByteBuffer.allocate(8192);
            while (channel.read(piece) >= 0) {
                answer.write(piece.array(), 0, piece.position());
                piece.clear();
            }
            return answer.toString(StandardCharsets.UTF_8);
        }
    }

    private String operator(String path) throws IOException {
        return request(UnixDomainSocketAddress.of(state.resolve("socket")), "GET " + path + " HTTP/1.1");
    }

    @Test
    void operators_see_who_is_there_and_prometheus_sees_numbers_alone() throws Exception {
        try (TestAgent host = fixture.agent(RelayFixture.HOST)) {
            assertThat(host.serve(
                            host.attachment(),
                            fixture.controller,
                            fixture.credential(fixture.controller),
                            CircuitRecorder.keeping().application()))
                    .isEmpty();
            assertThat(operator("/hosts"))
                    .contains("\"name\":\"n1.host.site.cloister.internal\"", "\"attached\":true")
                    .contains("\"serves\":[\"" + fixture.controller + "\"]");
            assertThat(operator("/status")).contains("\"ready\":true", "\"attached\":1");
            String metrics = request(loopback.address(), "GET /metrics HTTP/1.1");
            assertThat(metrics).contains("cloister_relay_links_attached 1").doesNotContain("n1.host", "controller");
            assertThat(request(loopback.address(), "GET /healthz HTTP/1.1")).startsWith("HTTP/1.1 200");
            assertThat(request(loopback.address(), "GET /readyz HTTP/1.1")).startsWith("HTTP/1.1 200");
            assertThat(request(loopback.address(), "GET /hosts HTTP/1.1")).startsWith("HTTP/1.1 404");
            assertThat(request(loopback.address(), "POST /deliveries HTTP/1.1")).startsWith("HTTP/1.1 405");
        }
    }

    @Test
    void operators_see_tickets_and_projects_and_switch_draining_and_nobody_else_does() throws Exception {
        assertThat(operator("/tickets"))
                .startsWith("HTTP/1.1 200")
                .contains("\"draining\":false", "\"audit_writable\":true", "\"vlans_free\":3995", "\"tickets\":[]");
        assertThat(operator("/projects"))
                .contains("\"project\":\"" + fixture.site.a.id() + "\",\"account\":\"chem\"")
                .doesNotContain("partition");
        SocketAddress address = UnixDomainSocketAddress.of(state.resolve("socket"));
        assertThat(request(address, "POST /drain HTTP/1.1")).contains("accepts no new tickets");
        assertThat(operator("/tickets")).contains("\"draining\":true");
        assertThat(request(address, "POST /undrain HTTP/1.1")).contains("accepts new tickets");
        assertThat(request(loopback.address(), "GET /tickets HTTP/1.1")).startsWith("HTTP/1.1 404");
        assertThat(request(loopback.address(), "GET /projects HTTP/1.1")).startsWith("HTTP/1.1 404");
        assertThat(request(loopback.address(), "POST /drain HTTP/1.1")).startsWith("HTTP/1.1 405");
        assertThat(operator("/tickets")).contains("\"draining\":false");
    }

    @Test
    void the_socket_is_for_the_relays_group() throws IOException {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(state.resolve("socket"))))
                .isEqualTo("rw-rw----");
    }

    @Test
    void a_relay_that_drains_is_alive_and_not_ready() throws Exception {
        fixture.relay.drain();
        assertThat(operator("/healthz")).startsWith("HTTP/1.1 200");
        assertThat(operator("/readyz")).startsWith("HTTP/1.1 503");
    }
}
