package org.cloister.daemon.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Limits of a listener on loopback for callers that nothing identifies: a bounded number of them, for a bounded time.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a drop that fails ends the dripping
class AdminHttpServerTest {
    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final AdminHttpServer listener = AdminHttpServer.listen(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            request -> CompletableFuture.completedFuture(AdminResponse.text(HttpResponseStatus.OK, "well")),
            loops);

    AdminHttpServerTest() throws IOException {}

    @AfterEach
    void close() {
        listener.close();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private Socket call(String request) throws IOException {
        InetSocketAddress address = (InetSocketAddress) listener.address();
        Socket socket = new Socket(address.getAddress(), address.getPort());
        socket.setSoTimeout(40_000);
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    private static String answer(Socket socket) throws IOException {
        try (InputStream in = socket.getInputStream()) {
            return new String(in.readAllBytes(), StandardCharsets.US_ASCII);
        } catch (SocketException e) {
            return "";
        }
    }

    @Test
    void a_request_is_answered_however_many_connections_are_held_open() throws IOException {
        List<Socket> held = new ArrayList<>();
        long begin = System.nanoTime();
        try {
            for (int i = 0; i < 3 * AdminHttpServer.CONNECTIONS; i++) {
                held.add(call("GET /metrics HTTP/1.1\r\nHost: x\r\n"));
            }
            try (Socket asks = call("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")) {
                assertThat(answer(asks)).startsWith("HTTP/1.1 200").endsWith("well\n");
            }
            for (Socket oldest : held.subList(0, 2 * AdminHttpServer.CONNECTIONS)) {
                assertThat(answer(oldest)).as("gave way").isEmpty();
            }
            assertThat(System.nanoTime() - begin)
                    .as("before its time was over")
                    .isLessThan(TimeUnit.SECONDS.toNanos(9));
        } finally {
            for (Socket each : held) {
                each.close();
            }
        }
    }

    @Test
    void one_that_dribbles_is_given_as_long_as_any_other_and_no_longer() throws Exception {
        long begin = System.nanoTime();
        try (Socket dribbles = call("GET /metrics HTTP/1.1\r\n")) {
            OutputStream out = dribbles.getOutputStream();
            ScheduledExecutorService drops = Executors.newSingleThreadScheduledExecutor();
            try {
                // Ends with the first that cannot be written.
                drops.scheduleAtFixedRate(() -> drop(out), 0, 500, TimeUnit.MILLISECONDS);
                assertThat(answer(dribbles)).isEmpty();
            } finally {
                drops.shutdownNow();
            }
        }
        assertThat(System.nanoTime() - begin).isLessThan(TimeUnit.SECONDS.toNanos(25));
    }

    private static void drop(OutputStream out) {
        try {
            out.write("x: y\r\n".getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void a_body_is_not_kept_where_nothing_can_be_delivered() throws IOException {
        try (Socket large = call("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")) {
            assertThat(answer(large)).startsWith("HTTP/1.1 413");
        }
    }
}
