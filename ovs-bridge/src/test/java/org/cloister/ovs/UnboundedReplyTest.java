package org.cloister.ovs;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.cloister.ovs.io.OvsException;
import org.cloister.ovs.io.OvsException.Malformed;
import org.cloister.ovs.openflow.OpenFlowClient;
import org.cloister.ovs.ovsdb.JsonRpc;
import org.cloister.ovs.ovsdb.OvsdbClient;
import org.cloister.ovs.ovsdb.OvsdbColumns;
import org.cloister.ovs.ovsdb.OvsdbReplica;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server whose message or answer has no end: it is cut off with a typed error, and no more than the limit is read of it. */
@Timeout(60)
class UnboundedReplyTest {
    private static final int PIECE = 1 << 16;
    /** What lies in the socket and in the client's read buffer when it hangs up. */
    private static final int ON_THE_WAY = 2 << 20;

    private static final int VERSION = 5;
    private static final int HELLO = 0;
    private static final int MULTIPART_REPLY = 19;
    private static final int PORTS = 13;
    private static final int MORE = 1;
    /** The client's hello is its first message, and its question the second. */
    private static final int XID = 2;

    private static final int ANSWER_LIMIT = 32 << 20;

    private final MultiThreadIoEventLoopGroup threads = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final EventLoop loop = threads.next();
    private final CompletableFuture<OvsException> lost = new CompletableFuture<>();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @SuppressWarnings("NullAway.Init")
    private ServerSocketChannel server;

    @BeforeEach
    void listen() throws IOException {
        server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(folder.resolve("socket")));
    }

    @AfterEach
    void tearDown() throws Exception {
        server.close();
        threads.shutdownGracefully(0, 1, TimeUnit.SECONDS).get();
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"id\":1,\"result\":{\"", "[[", "{\"a\":["})
    void a_message_of_a_database(String start) throws Exception {
        OvsdbColumns columns = new OvsdbColumns(Map.of("Bridge", Map.of("name", OvsdbColumns.Kind.SCALAR)));
        OvsdbClient client = new OvsdbClient(loop, folder.resolve("socket"), columns, new OvsdbClient.Listener() {
            @Override
            public void onRows(OvsdbReplica database) {}

            @Override
            public void onLost(OvsException why) {
                lost.complete(why);
            }
        });
        client.start();
        long sent = stream(
                start.getBytes(StandardCharsets.US_ASCII), "1".repeat(PIECE).getBytes(StandardCharsets.US_ASCII));
        assertThat(lost.get(5, TimeUnit.SECONDS))
                .isInstanceOf(Malformed.class)
                .hasMessageContaining(Integer.toString(JsonRpc.MAX_BYTES));
        assertThat(sent).isBetween((long) JsonRpc.MAX_BYTES, (long) JsonRpc.MAX_BYTES + ON_THE_WAY);
        loop.submit(client::close).get();
    }

    /** Each part is whole and small, and some have nothing in them. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void an_answer_of_a_switch(int portsInPart) throws Exception {
        CompletableFuture<OvsException> failed = new CompletableFuture<>();
        CompletableFuture<OpenFlowClient> made = new CompletableFuture<>();
        OpenFlowClient client = new OpenFlowClient(loop, folder.resolve("socket"), new OpenFlowClient.Listener() {
            @Override
            public void onSwitch() {
                made.join().ports(new OpenFlowClient.ReplyCallback<>() {
                    @Override
                    public void onResult(Map<String, Integer> result) {}

                    @Override
                    public void onFailure(OvsException why) {
                        failed.complete(why);
                    }
                });
            }

            @Override
            public void onLost(OvsException why) {
                lost.complete(why);
            }
        });
        made.complete(client);
        client.start();
        ByteBuffer part = ByteBuffer.allocate(16 + 72 * portsInPart);
        part.put((byte) VERSION).put((byte) MULTIPART_REPLY).putShort((short) part.capacity());
        part.putInt(XID).putShort((short) PORTS).putShort((short) MORE).putInt(0);
        if (portsInPart > 0) {
            part.putInt(1).putShort((short) 72);
        }
        ByteBuffer parts = ByteBuffer.allocate(PIECE / part.capacity() * part.capacity());
        while (parts.hasRemaining()) {
            parts.put(part.array());
        }
        long sent = stream(new byte[] {VERSION, HELLO, 0, 8, 0, 0, 0, 0}, parts.array());
        assertThat(lost.get(5, TimeUnit.SECONDS))
                .isInstanceOf(Malformed.class)
                .hasMessageContaining("at most " + ANSWER_LIMIT);
        assertThat(failed.get(5, TimeUnit.SECONDS)).isInstanceOf(OvsException.class);
        assertThat(sent).isBetween((long) ANSWER_LIMIT, (long) ANSWER_LIMIT + ON_THE_WAY);
        loop.submit(client::close).get();
    }

    /** Sends until the client hangs up, and hands back how many bytes went. */
    private long stream(byte[] start, byte[] piece) throws IOException {
        long sent = 0;
        try (SocketChannel accepted = server.accept()) {
            accepted.read(ByteBuffer.allocate(4096));
            sent += accepted.write(ByteBuffer.wrap(start));
            while (true) {
                // A blocking channel takes all of it, or the client has hung up.
                sent += accepted.write(ByteBuffer.wrap(piece));
            }
        } catch (IOException e) {
            // The client has hung up, which is what is to be shown.
            return sent;
        }
    }
}
