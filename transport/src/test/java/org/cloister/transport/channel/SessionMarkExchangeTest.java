package org.cloister.transport.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.link.ProtocolLimits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class SessionMarkExchangeTest {
    private static byte[] mark(int value) {
        byte[] mark = new byte[16];
        Arrays.fill(mark, (byte) value);
        return mark;
    }

    private final SessionMarkExchange a = new SessionMarkExchange(mark(0xaa));

    private Optional<byte[]> feed(byte[]... pieces) throws MalformedException {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] piece : pieces) {
            all.writeBytes(piece);
        }
        return a.read(ByteBuffer.wrap(all.toByteArray()));
    }

    @Test
    void answers_a_mark_once_and_starts_when_its_own_comes_back() throws Exception {
        byte[] hello = SessionMark.bytes(mark(0xbb), new byte[16]);
        assertThat(a.greets()).isTrue();
        assertThat(feed(hello))
                .hasValueSatisfying(answer -> assertThat(answer).isEqualTo(SessionMark.bytes(mark(0xaa), mark(0xbb))));
        assertThat(a.greets()).isFalse();
        assertThat(feed(hello)).isEmpty();
        assertThat(a.established()).isFalse();
        ByteBuffer in = ByteBuffer.allocate(45)
                .put(SessionMark.bytes(mark(0xbb), mark(0xaa)))
                .put(new byte[] {1, 2, 3, 4, 5})
                .flip();
        assertThat(a.read(in)).isEmpty();
        assertThat(a.established()).isTrue();
        assertThat(in.remaining()).isEqualTo(5);
    }

    @Test
    void an_answer_to_an_earlier_mark_starts_nothing() throws Exception {
        assertThat(feed(SessionMark.bytes(mark(0xbb), mark(0x11)))).isEmpty();
        assertThat(a.established()).isFalse();
        assertThat(a.greets()).isTrue();
    }

    @Test
    void finds_a_record_behind_a_torn_one_at_every_place_where_it_can_be_torn() throws Exception {
        byte[] stale = SessionMark.bytes(mark(0x33), mark(0x11));
        for (int kept = 0; kept < SessionMark.BYTES; kept++) {
            SessionMarkExchange fresh = new SessionMarkExchange(mark(0xaa));
            ByteBuffer in = ByteBuffer.allocate(80)
                    .put(stale, 0, kept)
                    .put(SessionMark.bytes(mark(0xbb), mark(0xaa)))
                    .flip();
            assertThat(fresh.read(in)).isPresent();
            assertThat(fresh.established()).as("torn after " + kept).isTrue();
        }
    }

    @Test
    void too_much_that_is_no_session_is_refused() {
        byte[] rubbish = new byte[1 << 20];
        assertThatThrownBy(() -> {
                    for (int sent = 0; sent <= ProtocolLimits.MARK_DROPPED_BYTES; sent += rubbish.length) {
                        feed(rubbish);
                    }
                })
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining("does not speak this protocol");
    }

    /** Both sides over a socket in which the remains of an earlier session still lie. */
    @Test
    void two_sides_meet_over_a_pipe_with_a_memory(@TempDir Path folder) throws Exception {
        UnixDomainSocketAddress address = UnixDomainSocketAddress.of(folder.resolve("port"));
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(address);
            try (SocketChannel guest = SocketChannel.open(address);
                    SocketChannel host = server.accept()) {
                byte[] remains = new byte[5000];
                new Random(7).nextBytes(remains);
                host.write(ByteBuffer.wrap(remains));
                host.write(ByteBuffer.wrap(SessionMark.bytes(mark(0x44), new byte[16])));
                guest.write(ByteBuffer.wrap(SessionMark.bytes(mark(0x55), mark(0x66)), 0, 30));
                CompletableFuture<String> other = CompletableFuture.supplyAsync(() -> session(host, 0xcc, "from host"));
                assertThat(session(guest, 0xdd, "from guest")).isEqualTo("from host");
                assertThat(other.get(10, TimeUnit.SECONDS)).isEqualTo("from guest");
            }
        }
    }

    private static String session(SocketChannel port, int markByte, String say) {
        try {
            SessionMarkExchange exchange = new SessionMarkExchange(mark(markByte));
            port.write(ByteBuffer.wrap(exchange.greeting()));
            ByteBuffer in = ByteBuffer.allocate(7);
            while (!exchange.established()) {
                in.clear();
                port.read(in);
                in.flip();
                while (in.hasRemaining() && !exchange.established()) {
                    Optional<byte[]> answer = exchange.read(in);
                    if (answer.isPresent()) {
                        port.write(ByteBuffer.wrap(answer.get()));
                    }
                }
            }
            port.write(ByteBuffer.wrap(say.getBytes(java.nio.charset.StandardCharsets.US_ASCII)));
            ByteArrayOutputStream received = new ByteArrayOutputStream();
            while (received.size() < (say.equals("from host") ? 10 : 9)) {
                if (!in.hasRemaining()) {
                    in.clear();
                    port.read(in);
                    in.flip();
                }
                received.write(in.get());
            }
            return received.toString(java.nio.charset.StandardCharsets.US_ASCII);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
