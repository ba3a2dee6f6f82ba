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
 * Copies a circuit's bytes to and from a program's streams. Neither side is read faster than the other accepts data;
 * the end of one direction is passed on as the end of that direction only. Runs on the circuit's event loop, except for
 * methods marked otherwise.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failing channel closes, which is handled
final class SshCircuitPipe extends ChannelInboundHandlerAdapter {
    private static final int PIECE_BYTES = 32 * 1024;
    private static final Duration CLOSE_DELAY = Duration.ofSeconds(5);

    private final Circuit circuit;
    /** Runs one thread for each direction. */
    private final Executor threads;

    private final Runnable onEnd;
    /** Bytes that the program has not accepted yet: what TLS decrypted from one read of the circuit. */
    private final Deque<byte[]> buffered = new ArrayDeque<>();

    private int bufferedBytes;
    private boolean started;
    private boolean writing;
    private boolean inputEnded;
    private boolean finished;
    private @Nullable OutputStream in;
    private final CompletableFuture<Void> released = new CompletableFuture<>();

    /**
     * @param onEnd called once on the circuit's event loop when the other end has ended its output, or the circuit is
     *     closed; {@link #release} must follow
     */
    SshCircuitPipe(Circuit circuit, Executor threads, Runnable onEnd) {
        this.circuit = circuit;
        this.threads = threads;
        this.onEnd = onEnd;
        circuit.channel().config().setAutoRead(false);
    }

    Circuit circuit() {
        return circuit;
    }

    /**
     * Starts copying. The streams are closed by this object.
     *
     * @param out the program's output
     * @param in the program's input
     */
    void start(InputStream out, OutputStream in) {
        this.in = in;
        started = true;
        threads.execute(() -> send(out));
        writeNext();
    }

    /** Sends the program's output to the circuit until it ends. Called on any thread. */
    private void send(InputStream out) {
        byte[] piece = new byte[PIECE_BYTES];
        try {
            for (int n = out.read(piece); n >= 0; n = out.read(piece)) {
                ChannelFuture sent = circuit.channel()
                        .writeAndFlush(Unpooled.copiedBuffer(piece, 0, n))
                        .await();
                if (!sent.isSuccess()) {
                    throw new IOException("circuit: cannot be written to", sent.cause());
                }
            }
            endOutput();
        } catch (IOException e) {
            circuit.close(CloseReason.LOST);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        // Not earlier: a program without a reader ends, and the processes that it started could no longer be attributed
        // to it.
        released.thenRun(() -> close(out));
    }

    private void endOutput() {
        circuit.shutdownOutput();
        // Nothing is read any more: further output of the other end need not be awaited.
        circuit.channel()
                .eventLoop()
                .schedule(() -> circuit.channel().close(), CLOSE_DELAY.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Returns the number of bytes that the program has not accepted. */
    int bufferedBytes() {
        return bufferedBytes;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf bytes = (ByteBuf) message;
        if (!started) {
            // The peer cannot have read the VM's response yet.
            bytes.release();
            circuit.close(CloseReason.PROTOCOL);
            return;
        }
        byte[] piece = ByteBufUtil.getBytes(bytes);
        bytes.release();
        buffered.add(piece);
        bufferedBytes += piece.length;
        ctx.channel().config().setAutoRead(false);
        writeNext();
    }

    private void writeNext() {
        OutputStream to = in;
        if (!started || writing || to == null) {
            return;
        }
        if (buffered.isEmpty()) {
            if (inputEnded) {
                finish();
            } else if (!finished) {
                circuit.channel().config().setAutoRead(true);
            }
            return;
        }
        byte[] piece = buffered.remove();
        writing = true;
        threads.execute(() -> write(to, piece));
    }

    /** Called on any thread. */
    private void write(OutputStream to, byte[] piece) {
        try {
            to.write(piece);
            to.flush();
        } catch (IOException e) {
            // The program reads no more; its output is sent until it ends.
            circuit.channel().eventLoop().execute(() -> {
                dropBuffered();
                inputEnded = true;
            });
        }
        circuit.channel().eventLoop().execute(() -> {
            writing = false;
            bufferedBytes -= piece.length;
            writeNext();
        });
    }

    private void dropBuffered() {
        buffered.forEach(piece -> bufferedBytes -= piece.length);
        buffered.clear();
    }

    /** Closes the program's input, and closes its output once that has ended. */
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
            inputEnded = true;
            writeNext();
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
        if (!finished) {
            finished = true;
            dropBuffered();
            onEnd.run();
        }
    }
}
