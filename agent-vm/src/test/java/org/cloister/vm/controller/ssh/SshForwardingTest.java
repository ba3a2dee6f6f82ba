package org.cloister.vm.controller.ssh;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import org.cloister.protocol.identity.CertificateRole;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests which forwarding OpenSSH permits to whom, with a listener on two addresses of the VM. */
@Timeout(120)
class SshForwardingTest extends SingleLoginFixture {
    /** Of the loopback device too, and none that may be forwarded to. */
    private static final String OTHER = "127.0.0.2";

    /** Says a word to whoever comes. */
    private static final class GreetingServer implements AutoCloseable {
        final AtomicInteger came = new AtomicInteger();
        private final ServerSocket socket;

        GreetingServer(String address) throws IOException {
            socket = new ServerSocket(0, 1, InetAddress.getByName(address));
            Thread thread = new Thread(this::serve, "listening");
            thread.setDaemon(true);
            thread.start();
        }

        private void serve() {
            while (true) {
                try (Socket one = socket.accept()) {
                    came.incrementAndGet();
                    one.getOutputStream().write("here\n".getBytes(StandardCharsets.UTF_8));
                } catch (IOException e) {
                    return;
                }
            }
        }

        String at(String address) {
            return address + ":" + socket.getLocalPort();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    @Test
    void a_member_is_forwarded_to_what_listens_on_the_vms_loopback_address() throws Exception {
        try (GreetingServer listening = new GreetingServer("127.0.0.1")) {
            for (String address : new String[] {"127.0.0.1", "localhost"}) {
                try (var call = ada.calls(CertificateRole.MEMBER)) {
                    var ended = call.ssh("-W", listening.at(address));
                    assertThat(ended.out()).as(ended.errors()).isEqualTo("here\n");
                }
            }
        }
    }

    @Test
    void a_member_is_not_forwarded_to_any_other_address() throws Exception {
        try (GreetingServer listening = new GreetingServer(OTHER);
                var call = ada.calls(CertificateRole.MEMBER)) {
            var ended = call.ssh("-W", listening.at(OTHER));
            assertThat(ended.status()).isEqualTo(255);
            assertThat(ended.errors()).contains("stdio forwarding failed");
            assertThat(listening.came).hasValue(0);
        }
    }

    @Test
    void nothing_in_the_vm_listens_for_a_member() throws Exception {
        try (GreetingServer listening = new GreetingServer("127.0.0.1");
                var call = ada.calls(CertificateRole.MEMBER)) {
            var ended = call.ssh(
                    "-o", "ExitOnForwardFailure=yes", "-R", "127.0.0.1:0:" + listening.at("127.0.0.1"), "true");
            assertThat(ended.status()).isEqualTo(255);
            assertThat(ended.errors()).contains("remote port forwarding failed");
        }
    }

    @Test
    void an_exporter_is_forwarded_nowhere_and_nothing_listens_for_one() throws Exception {
        try (GreetingServer listening = new GreetingServer("127.0.0.1")) {
            try (var call = ada.calls(CertificateRole.EXPORTER)) {
                var ended = call.ssh("-W", listening.at("127.0.0.1"));
                assertThat(ended.status()).isEqualTo(255);
                assertThat(ended.errors()).contains("stdio forwarding failed");
            }
            try (var call = ada.calls(CertificateRole.EXPORTER)) {
                var ended = call.ssh(
                        "-o", "ExitOnForwardFailure=yes", "-R", "127.0.0.1:0:" + listening.at("127.0.0.1"), "true");
                assertThat(ended.status()).isEqualTo(255);
                assertThat(ended.errors()).contains("remote port forwarding failed");
            }
            assertThat(listening.came).hasValue(0);
        }
    }
}
