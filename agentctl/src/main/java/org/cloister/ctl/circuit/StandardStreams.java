package org.cloister.ctl.circuit;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.transport.circuit.Circuit;

/**
 * Connects the standard streams of a process to one end of a circuit. Each side is read only as fast as the other one
 * accepts data.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failure shows as the channel's end
public final class StandardStreams extends ChannelInboundHandlerAdapter implements Circuit.Application {
    private static final int PIECE_BYTES = 64 * 1024;

    private final InputStream in;
    private final OutputStream out;
    private final ExecutorService writer = Executors.newSingleThreadExecutor(StandardStreams::daemon);
    /** Number of pieces; used on the event loop. */
    private int unwritten;

    private final CompletableFuture<Void> allReceived = new CompletableFuture<>();

    public StandardStreams(InputStream in, OutputStream out) {
        this.in = in;
        this.out = out;
    }

    @Override
    public void install(ChannelPipeline pipeline, Circuit circuit) {
        pipeline.addLast(this);
        daemon(() -> send(circuit)).start();
    }

    /**
     * Waits until both directions have ended.
     *
     * @throws IOException if the circuit broke, or the output accepts no more data
     */
    public void awaitEnd() throws IOException, InterruptedException {
        try {
            allReceived.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException io) {
                throw io;
            }
            throw new IOException("circuit: " + e.getCause(), e);
        }
    }

    private void send(Circuit circuit) {
        byte[] piece = new byte[PIECE_BYTES];
        try {
            for (int n = in.read(piece); n >= 0; n = in.read(piece)) {
                ChannelFuture passed = circuit.channel()
                        .writeAndFlush(Unpooled.copiedBuffer(piece, 0, n))
                        .await();
                if (!passed.isSuccess()) {
                    // A circuit that has closed already keeps its own reason.
                    circuit.close(CloseReason.LOST);
                    return;
                }
            }
            circuit.shutdownOutput();
        } catch (IOException e) {
            allReceived.completeExceptionally(new IOException("standard input: " + e.getMessage(), e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf bytes = (ByteBuf) message;
        byte[] piece = ByteBufUtil.getBytes(bytes);
        bytes.release();
        unwritten++;
        ctx.channel().config().setAutoRead(false);
        writer.execute(() -> {
            try {
                out.write(piece);
                out.flush();
                ctx.executor().execute(() -> {
                    unwritten--;
                    ctx.channel().config().setAutoRead(unwritten == 0);
                });
            } catch (IOException e) {
                allReceived.completeExceptionally(new IOException("standard output: " + e.getMessage(), e));
            }
        });
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == ChannelInputShutdownEvent.INSTANCE) {
            writer.execute(() -> allReceived.complete(null));
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        writer.execute(() -> allReceived.completeExceptionally(cause));
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        writer.execute(() -> allReceived.completeExceptionally(
                new IOException("circuit: it was closed before both sides had finished")));
    }

    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work, "circuit");
        thread.setDaemon(true);
        return thread;
    }
}
