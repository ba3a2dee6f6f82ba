package org.cloister.relay;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.io.ByteArrayOutputStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.circuit.Circuit;

/** The application at one end of a circuit: keeps what comes, and can send it back. */
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
final class Tap extends ChannelInboundHandlerAdapter {
    private final boolean echo;
    private final ByteArrayOutputStream got = new ByteArrayOutputStream();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final CountDownLatch gone = new CountDownLatch(1);
    private volatile Throwable error;
    private volatile Circuit circuit;

    private Tap(boolean echo) {
        this.echo = echo;
    }

    static Tap keeping() {
        return new Tap(false);
    }

    static Tap echoing() {
        return new Tap(true);
    }

    Circuit.Application application() {
        return (pipeline, opened) -> {
            circuit = opened;
            pipeline.addLast(this);
        };
    }

    void send(byte[] bytes) {
        circuit.channel().writeAndFlush(Unpooled.wrappedBuffer(bytes));
    }

    Circuit circuit() {
        return circuit;
    }

    @Override
    public synchronized void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf bytes = (ByteBuf) message;
        if (echo) {
            ctx.writeAndFlush(bytes);
        } else {
            got.writeBytes(ByteBufUtil.getBytes(bytes));
            bytes.release();
            notifyAll();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == ChannelInputShutdownEvent.INSTANCE) {
            ended.countDown();
            if (echo) {
                circuit.endOutput();
            }
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        error = cause;
        gone.countDown();
    }

    @Override
    public synchronized void channelInactive(ChannelHandlerContext ctx) {
        gone.countDown();
        notifyAll();
    }

    synchronized byte[] await(int bytes) throws InterruptedException {
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (got.size() < bytes && System.nanoTime() - endNs < 0) {
            wait(100);
        }
        return got.toByteArray();
    }

    synchronized int size() {
        return got.size();
    }

    boolean heardEnd() {
        return ended.getCount() == 0;
    }

    boolean awaitEnd() throws InterruptedException {
        return ended.await(20, TimeUnit.SECONDS);
    }

    /** @return how the circuit broke, or null if it did not */
    Throwable awaitGone() throws InterruptedException {
        Agent.require(gone.await(20, TimeUnit.SECONDS) ? this : null, "the circuit is still there");
        return error;
    }
}
