package org.cloister.transport.channel;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.handover.VmAssignment;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.ProtocolVersions;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.LinkCodec;
import org.cloister.transport.link.LinkStreams;
import org.cloister.transport.link.StreamResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A host that takes a question and says nothing, in a session that goes on. Time is the test's. */
class SingleRequestStreamTest {
    private final EmbeddedChannel host = new EmbeddedChannel();
    private final EmbeddedChannel vm = new EmbeddedChannel();
    private final List<Channel> requests = new ArrayList<>();

    @BeforeEach
    void setUp() {
        LinkCodec.server(host.pipeline(), LinkStreams.MACHINE, new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel stream) {
                stream.pipeline().addLast(new Silent());
            }
        });
        vm.freezeTime();
        LinkCodec.client(vm.pipeline(), LinkStreams.MACHINE);
        exchange();
    }

    @AfterEach
    void tearDown() {
        vm.finishAndReleaseAll();
        host.finishAndReleaseAll();
    }

    private final class Silent extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof Http2HeadersFrame) {
                requests.add(ctx.channel());
                StreamResponse.accept(ctx.channel(), ProtocolVersions.OURS.highest());
            } else {
                ReferenceCountUtil.release(message);
            }
        }
    }

    /** All that one has written and the other has not read. */
    private void exchange() {
        boolean any = true;
        while (any) {
            any = false;
            for (Object bytes = vm.readOutbound(); bytes != null; bytes = vm.readOutbound()) {
                host.writeInbound(bytes);
                any = true;
            }
            for (Object bytes = host.readOutbound(); bytes != null; bytes = host.readOutbound()) {
                vm.writeInbound(bytes);
                any = true;
            }
        }
    }

    private void pass(long ms) {
        vm.advanceTimeBy(ms, TimeUnit.MILLISECONDS);
        vm.runScheduledPendingTasks();
        exchange();
    }

    @Test
    void a_question_without_an_answer_ends_in_its_time_and_takes_its_stream_with_it() {
        ClientLink link = new ClientLink(vm);
        Future<VmAssignment> first = AssignmentQuery.ask(link);
        exchange();
        assertThat(requests).hasSize(1);
        pass(ProtocolLimits.ANSWER_TIME.toMillis() - 1);
        assertThat(first.isDone()).isFalse();
        pass(1);
        assertThat(first.cause()).isInstanceOf(IOException.class).hasMessageContaining("within 20 s, have none");
        assertThat(requests.get(0).isActive())
                .as("a stream that nobody waits for")
                .isFalse();

        Future<VmAssignment> second = AssignmentQuery.ask(link);
        exchange();
        assertThat(requests).as("asked again in the same session").hasSize(2);
        assertThat(second.isDone()).isFalse();
    }
}
