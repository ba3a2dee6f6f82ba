package org.cloister.vm.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The other end of a conversation in a circuit. What it hears waits until it is asked for. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes as its end
public final class CircuitMessageRecorder<M> extends SimpleChannelInboundHandler<M> {
    public final BlockingQueue<M> received = new LinkedBlockingQueue<>();

    public CircuitMessageRecorder(Class<M> messages) {
        super(messages);
    }

    public M hears() throws InterruptedException {
        M message = received.poll(20, TimeUnit.SECONDS);
        assertThat(message).as("a message within 20 s").isNotNull();
        return message;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, M message) {
        received.add(message);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == ChannelInputShutdownEvent.INSTANCE) {
            ctx.close();
        }
    }
}
