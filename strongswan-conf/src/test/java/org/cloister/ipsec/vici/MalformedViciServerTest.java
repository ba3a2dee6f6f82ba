package org.cloister.ipsec.vici;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.cloister.ipsec.vici.IpsecException.Disconnected;
import org.cloister.ipsec.vici.IpsecException.Malformed;
import org.cloister.ipsec.vici.IpsecException.TimedOut;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Something on charon's socket that does not speak its protocol: a typed error and a new attempt, never a hang. */
class MalformedViciServerTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "00000000",
                "0000000109",
                "0000000101",
                "00000003010203",
                "7fffffff01",
                "ffffffff01",
                "00080001",
                "0000000107",
                "00000006070178010161",
                "000000020500",
                "0000000403016101",
            })
    void rubbish_is_a_malformed_packet(String hex) throws Exception {
        assertThat(lost(HexFormat.of().parseHex(hex))).isInstanceOf(Malformed.class);
    }

    @Test
    void half_a_packet_and_an_end_is_a_lost_connection() throws Exception {
        assertThat(lost(HexFormat.of().parseHex("0000001001"))).isInstanceOf(Disconnected.class);
    }

    @Test
    void silence_is_a_time_out() throws Exception {
        assertThat(lost(new byte[0])).isInstanceOf(TimedOut.class);
    }

    /** Why the client gave up a server that answers this to its first packet. */
    private IpsecException lost(byte[] answer) throws Exception {
        Path socket = folder.resolve("vici.sock");
        MultiThreadIoEventLoopGroup threads = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        BlockingQueue<IpsecException> lost = new LinkedBlockingQueue<>();
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
                ViciClient client = new ViciClient(threads.next(), socket, Set.of(), new ViciClient.Listener() {
                    @Override
                    public void onConnected() {}

                    @Override
                    public void onEvent(String name, ViciMessage message) {}

                    @Override
                    public void onLost(IpsecException why) {
                        lost.add(why);
                    }
                })) {
            server.bind(UnixDomainSocketAddress.of(socket));
            client.start();
            IpsecException why;
            try (SocketChannel accepted = server.accept()) {
                accepted.read(ByteBuffer.allocate(4096));
                accepted.write(ByteBuffer.wrap(answer));
                // Half a packet: only the end shows that no more comes.
                why = answer.length == 5 && answer[3] == 0x10 ? null : lost.poll(6, TimeUnit.SECONDS);
            } catch (IOException e) {
                // The client has hung up, which is what is to be shown.
                why = null;
            }
            if (why == null) {
                why = lost.poll(6, TimeUnit.SECONDS);
            }
            assertThat(why).isNotNull();
            try (SocketChannel again = server.accept()) {
                assertThat(again.isConnected()).isTrue();
            }
            return why;
        } finally {
            threads.shutdownGracefully(0, 1, TimeUnit.SECONDS).get();
        }
    }
}
