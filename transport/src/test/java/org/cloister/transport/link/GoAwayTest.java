package org.cloister.transport.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.cloister.protocol.link.ProtocolVersions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A connection that says it goes while streams are open on it, which do not care. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails shows as a failed test
class GoAwayTest {
    private static final byte[] DEBUG_DATA = "whatever a peer likes to say".getBytes(StandardCharsets.US_ASCII);
    private static final int GOAWAY = 7;

    private final EmbeddedChannel dialled = new EmbeddedChannel();
    private final EmbeddedChannel dialler = new EmbeddedChannel();
    private final List<Channel> streams = new ArrayList<>();

    @BeforeEach
    void setUp() {
        LinkCodec.server(dialled.pipeline(), LinkStreams.MACHINE, new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel stream) {
                streams.add(stream);
                stream.pipeline().addLast(new Deaf());
            }
        });
        LinkCodec.client(dialler.pipeline(), LinkStreams.MACHINE);
        ClientLink link = new ClientLink(dialler);
        for (int i = 0; i < 3; i++) {
            link.open(
                    new StreamRequest.Attach(ProtocolVersions.OURS),
                    stream -> stream.pipeline().addLast(new Deaf()));
        }
        exchange();
        streams.forEach(stream -> StreamResponse.accept(stream, ProtocolVersions.OURS.highest()));
        exchange();
    }

    /** Handler that, as most handlers of streams, passes on no event that is not its own. */
    private static final class Deaf extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ReferenceCountUtil.release(message);
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {}
    }

    private void exchange() {
        boolean any = true;
        while (any) {
            any = false;
            for (Object bytes = dialler.readOutbound(); bytes != null; bytes = dialler.readOutbound()) {
                dialled.writeInbound(bytes);
                any = true;
            }
            for (Object bytes = dialled.readOutbound(); bytes != null; bytes = dialled.readOutbound()) {
                dialler.writeInbound(bytes);
                any = true;
            }
        }
    }

    private static ByteBuf goAway() {
        return Unpooled.buffer()
                .writeMedium(2 * Integer.BYTES + DEBUG_DATA.length)
                .writeByte(GOAWAY)
                .writeByte(0)
                .writeInt(0)
                .writeInt(0)
                .writeInt(0)
                .writeBytes(DEBUG_DATA);
    }

    @AfterEach
    void tearDown() {
        dialler.finishAndReleaseAll();
        dialled.finishAndReleaseAll();
    }

    @Test
    void who_is_dialled_keeps_nothing_of_what_a_goaway_says() {
        assertThat(streams).hasSize(3).allMatch(Channel::isOpen);
        ByteBuf bytes = goAway();
        dialled.writeInbound(bytes);
        // What is nobody's comes out at the pipeline's end.
        dialled.releaseInbound();
        assertThat(bytes.refCnt()).isZero();
    }

    @Test
    void who_dials_keeps_nothing_either() {
        ByteBuf bytes = goAway();
        dialler.writeInbound(bytes);
        assertThat(bytes.refCnt()).isZero();
    }
}
