package org.cloister.relay.links;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.io.ByteArrayOutputStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.cloister.transport.circuit.Circuit;

/** The application at one end of a circuit: keeps what comes, and can send it back. */
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
public final class CircuitRecorder extends ChannelInboundHandlerAdapter {
    private final boolean echo;
    private final ByteArrayOutputStream got = new ByteArrayOutputStream();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final CountDownLatch gone = new CountDownLatch(1);
    private volatile Throwable error;
    private volatile Circuit circuit;

    private CircuitRecorder(boolean echo) {
        this.echo = echo;
    }

    public static CircuitRecorder keeping() {
        return new CircuitRecorder(false);
    }

    public static CircuitRecorder echoing() {
        return new CircuitRecorder(true);
    }

    public Circuit.Application application() {
        return (pipeline, opened) -> {
            circuit = opened;
            pipeline.addLast(this);
        };
    }

    public void send(byte[] bytes) {
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
                circuit.shutdownOutput();
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

    public synchronized byte[] await(int bytes) throws InterruptedException {
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (got.size() < bytes && System.nanoTime() - endNs < 0) {
            wait(100);
        }
        return got.toByteArray();
    }

    synchronized int size() {
        return got.size();
    }

    boolean hasReceivedEnd() {
        return ended.getCount() == 0;
    }

    public boolean awaitEnd() throws InterruptedException {
        return ended.await(20, TimeUnit.SECONDS);
    }

    /** @return how the circuit broke, or null if it did not */
    public Throwable awaitFailure() throws InterruptedException {
        TestAgent.require(gone.await(20, TimeUnit.SECONDS) ? this : null, "the circuit is still there");
        return error;
    }
}
