package org.cloister.vm.controller.ssh;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.transport.circuit.Circuit;
import org.jspecify.annotations.Nullable;

/**
 * A circuit's bytes to and from a program's two ends. Neither side is read faster than the other one takes; an end of one
 * direction is an end of that direction. All but what is marked so on the circuit's event loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes as its end
final class SshCircuitPipe extends ChannelInboundHandlerAdapter {
    private static final int PIECE_BYTES = 32 * 1024;
    private static final Duration LEAVING = Duration.ofSeconds(5);

    private final Circuit circuit;
    /** A thread each for both directions. */
    private final Executor threads;

    private final Runnable ended;
    /** What the program has not taken yet: what TLS had of one read of the circuit. */
    private final Deque<byte[]> pieces = new ArrayDeque<>();

    private int waiting;
    private boolean begun;
    private boolean writing;
    private boolean heardAll;
    private boolean over;
    private @Nullable OutputStream in;
    private final CompletableFuture<Void> released = new CompletableFuture<>();

    /**
     * @param ended called once when the other end says no more, or the circuit is over, on its event loop; {@link #release} is to
     *     follow
     */
    SshCircuitPipe(Circuit circuit, Executor threads, Runnable ended) {
        this.circuit = circuit;
        this.threads = threads;
        this.ended = ended;
        circuit.channel().config().setAutoRead(false);
    }

    Circuit circuit() {
        return circuit;
    }

    /**
     * Both are closed here.
     *
     * @param out what the program says
     * @param in what it reads
     */
    void start(InputStream out, OutputStream in) {
        this.in = in;
        begun = true;
        threads.execute(() -> send(out));
        next();
    }

    /** Any thread. The circuit's bytes, until the program has said all. */
    private void send(InputStream out) {
        byte[] piece = new byte[PIECE_BYTES];
        try {
            for (int n = out.read(piece); n >= 0; n = out.read(piece)) {
                ChannelFuture passed = circuit.channel()
                        .writeAndFlush(Unpooled.copiedBuffer(piece, 0, n))
                        .await();
                if (!passed.isSuccess()) {
                    throw new IOException("circuit: it takes no more", passed.cause());
                }
            }
            endOutput();
        } catch (IOException e) {
            circuit.close(CloseReason.LOST);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        // Not before: a program that finds nobody there ends, and what it had begun is nobody's.
        released.thenRun(() -> close(out));
    }

    private void endOutput() {
        circuit.shutdownOutput();
        // Nobody reads any more: what the other end still says need not be waited for.
        circuit.channel()
                .eventLoop()
                .schedule(() -> circuit.channel().close(), LEAVING.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Bytes that the program has not taken. */
    int bufferedBytes() {
        return waiting;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf bytes = (ByteBuf) message;
        if (!begun) {
            // Before it could have read what the VM says.
            bytes.release();
            circuit.close(CloseReason.PROTOCOL);
            return;
        }
        byte[] piece = ByteBufUtil.getBytes(bytes);
        bytes.release();
        pieces.add(piece);
        waiting += piece.length;
        ctx.channel().config().setAutoRead(false);
        next();
    }

    private void next() {
        OutputStream to = in;
        if (!begun || writing || to == null) {
            return;
        }
        if (pieces.isEmpty()) {
            if (heardAll) {
                finish();
            } else if (!over) {
                circuit.channel().config().setAutoRead(true);
            }
            return;
        }
        byte[] piece = pieces.remove();
        writing = true;
        threads.execute(() -> write(to, piece));
    }

    /** Any thread. */
    private void write(OutputStream to, byte[] piece) {
        try {
            to.write(piece);
            to.flush();
        } catch (IOException e) {
            // It reads no more; what it still says goes on until it ends.
            circuit.channel().eventLoop().execute(() -> {
                drop();
                heardAll = true;
            });
        }
        circuit.channel().eventLoop().execute(() -> {
            writing = false;
            waiting -= piece.length;
            next();
        });
    }

    private void drop() {
        pieces.forEach(piece -> waiting -= piece.length);
        pieces.clear();
    }

    /** The program hears that there is no more, and that nobody listens when it has nothing more to say. */
    void release() {
        OutputStream to = in;
        in = null;
        if (to != null) {
            threads.execute(() -> close(to));
        }
        released.complete(null);
    }

    private static void close(Closeable end) {
        try {
            end.close();
        } catch (IOException e) {
            // It has ended before.
            return;
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == ChannelInputShutdownEvent.INSTANCE) {
            heardAll = true;
            next();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        finish();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        circuit.close(CloseReason.PROTOCOL);
    }

    private void finish() {
        if (!over) {
            over = true;
            drop();
            ended.run();
        }
    }
}
