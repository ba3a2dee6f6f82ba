package org.cloister.ovs.ovsdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.EventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.cloister.ovs.io.OvsException;
import org.cloister.ovs.io.OvsException.Disconnected;
import org.cloister.ovs.io.OvsException.Malformed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server that does not do what RFC 7047 says: always a typed error and a new attempt, never a hang. */
class MalformedOvsdbServerTest {
    private static final OvsdbColumns COLUMNS = new OvsdbColumns(
            Map.of("Bridge", Map.of("name", OvsdbColumns.Kind.SCALAR, "ports", OvsdbColumns.Kind.MANY)));

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rubbish",
                "{\"id\":99,\"result\":[],\"error\":null}",
                "{\"id\":1,\"result\":[],\"error\":null}",
                "{\"id\":1,\"result\":{\"Bridge\":{\"x\":{\"initial\":{}}}},\"error\":null}",
                "{\"id\":1,\"result\":{\"Other\":{}},\"error\":null}",
                "{\"id\":null,\"method\":\"update2\",\"params\":[\"rows\",{}]}",
                "{\"id\":5,\"method\":\"shutdown\",\"params\":[]}",
                "{\"id\":1,\"id\":1,\"result\":{},\"error\":null}",
                "{\"id\":1,\"result\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]],\"error\":null}"
            })
    void rubbish_is_a_malformed_message(String answer) throws Exception {
        assertThat(lost(answer.getBytes(StandardCharsets.UTF_8))).isInstanceOf(Malformed.class);
    }

    @Test
    void half_a_message_and_an_end_is_a_lost_connection() throws Exception {
        assertThat(lost("{\"id\":1,\"resu".getBytes(StandardCharsets.UTF_8))).isInstanceOf(Disconnected.class);
    }

    @Test
    void an_error_inside_a_result_is_an_error() throws Exception {
        OvsdbTransaction one = new OvsdbTransaction().comment("x");
        JsonRpc.Message read = JsonRpc.read(
                "{\"id\":1,\"error\":null,\"result\":[{},{\"error\":\"constraint violation\",\"details\":\"twice\"}]}"
                        .getBytes(StandardCharsets.UTF_8));
        OvsException.TransactionRefused refusal =
                OvsdbClient.refusal("test", one, ((JsonRpc.Message.Reply) read).result());
        assertThat(refusal).hasMessageContaining("constraint violation: twice");
    }

    @Test
    void a_scalar_modified_is_its_new_value_and_a_set_its_difference() throws Exception {
        OvsdbReplica database = new OvsdbReplica(COLUMNS);
        String row = "00000000-0000-0000-0000-000000000001";
        String a = "[\"uuid\",\"00000000-0000-0000-0000-00000000000a\"]";
        String b = "[\"uuid\",\"00000000-0000-0000-0000-00000000000b\"]";
        update2(database, "{\"Bridge\":{\"" + row + "\":{\"initial\":{\"name\":\"x\",\"ports\":" + a + "}}}}");
        update2(
                database,
                "{\"Bridge\":{\"" + row + "\":{\"modify\":{\"name\":\"y\",\"ports\":[\"set\",[" + a + "," + b
                        + "]]}}}}");
        OvsdbRow after = database.rows("Bridge").iterator().next();
        assertThat(after.text("name")).isEqualTo("y");
        assertThat(after.references("ports")).hasToString("[00000000-0000-0000-0000-00000000000b]");
        assertThatThrownBy(() -> after.number("name")).isInstanceOf(Malformed.class);
    }

    private static void update2(OvsdbReplica database, String text) throws Malformed {
        byte[] reply = ("{\"id\":1,\"error\":null,\"result\":" + text + "}").getBytes(StandardCharsets.UTF_8);
        database.update2(((JsonRpc.Message.Reply) JsonRpc.read(reply)).result());
    }

    /** Why the client gave up a server that says this and then ends. */
    private OvsException lost(byte[] answer) throws Exception {
        Path socket = folder.resolve("db.sock");
        MultiThreadIoEventLoopGroup threads = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        BlockingQueue<OvsException> lost = new LinkedBlockingQueue<>();
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(socket));
            EventLoop loop = threads.next();
            OvsdbClient client = new OvsdbClient(loop, socket, COLUMNS, new OvsdbClient.Listener() {
                @Override
                public void onRows(OvsdbReplica database) {}

                @Override
                public void onLost(OvsException why) {
                    lost.add(why);
                }
            });
            client.start();
            try (SocketChannel accepted = server.accept()) {
                accepted.read(ByteBuffer.allocate(4096));
                accepted.write(ByteBuffer.wrap(answer));
                // A server that has said all may end; the client must not need that.
                for (int i = 0; i < 200 && lost.isEmpty(); i++) {
                    TimeUnit.MILLISECONDS.sleep(5);
                }
            }
            OvsException why = lost.poll(5, TimeUnit.SECONDS);
            loop.submit(client::close).get();
            assertThat(why).isNotNull();
            return why;
        } finally {
            threads.shutdownGracefully(0, 1, TimeUnit.SECONDS).get();
        }
    }
}
