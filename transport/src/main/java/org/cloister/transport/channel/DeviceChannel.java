package org.cloister.transport.channel;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.AbstractChannel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Character device as a Netty channel, such as a VM's end of a virtio-serial port. Reads and writes block, on threads
 * of their own ({@link DeviceThreads}). Those hold at most {@code channel-unread} bytes until the event loop reads;
 * then the device's own buffer fills, and the other side waits. At most 64 KiB are with the writer; the rest counts
 * against the channel's water marks. An end of file closes the channel.
 */
final class DeviceChannel extends AbstractChannel {
    private static final ChannelMetadata METADATA = new ChannelMetadata(false);
    private static final int MOST_PIECES_A_PASS = 16;

    private final ChannelConfig config = new DefaultChannelConfig(this);
    private final DeviceThreads threads;
    private final SocketAddress address;
    private boolean readRequested;
    private boolean writing;

    private DeviceChannel(DeviceThreads threads, Path device) {
        super(null);
        this.threads = threads;
        this.address = new Address(device);
    }

    /** The device's path, for logs. */
    private static final class Address extends SocketAddress {
        private static final long serialVersionUID = 1;
        private final String path;

        Address(Path path) {
            this.path = path.toString();
        }

        @Override
        public String toString() {
            return path;
        }
    }

    /**
     * Opens the device, which only one process can open if it is a virtio-serial port; then register the channel with a
     * loop.
     */
    static DeviceChannel open(Path device) throws IOException {
        return new DeviceChannel(DeviceThreads.open(device), device);
    }

    @Override
    protected void doRegister(ChannelPromise promise) {
        threads.start(() -> onLoop(this::deliver), written -> onLoop(() -> onWritten(written)));
        promise.setSuccess();
    }

    /** Runs a task of the device's threads on the event loop; a loop that has ended needs none. */
    private void onLoop(Runnable task) {
        try {
            eventLoop().execute(task);
        } catch (RejectedExecutionException e) {
            threads.close();
        }
    }

    @Override
    protected void doBeginRead() {
        readRequested = true;
        eventLoop().execute(this::deliver);
    }

    private void deliver() {
        if (!readRequested || !isOpen()) {
            return;
        }
        readRequested = false;
        boolean any = false;
        for (int i = 0; i < MOST_PIECES_A_PASS; i++) {
            byte[] piece = threads.poll();
            if (piece == null) {
                break;
            }
            any = true;
            pipeline().fireChannelRead(Unpooled.wrappedBuffer(piece));
        }
        if (any) {
            pipeline().fireChannelReadComplete();
            if (config.isAutoRead()) {
                read();
            }
        } else if (threads.ended()) {
            unsafe().close(voidPromise());
        } else {
            readRequested = true;
        }
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer in) throws Exception {
        if (writing) {
            return;
        }
        ByteBuffer batch = threads.batch();
        in.forEachFlushedMessage(message -> {
            ByteBuf bytes = (ByteBuf) message;
            int length = Math.min(bytes.readableBytes(), batch.remaining());
            int limit = batch.limit();
            batch.limit(batch.position() + length);
            bytes.getBytes(bytes.readerIndex(), batch);
            batch.limit(limit);
            return batch.hasRemaining();
        });
        if (batch.position() > 0) {
            writing = true;
            threads.write();
        } else {
            // All messages are empty.
            in.removeBytes(0);
        }
    }

    private void onWritten(int bytes) {
        ChannelOutboundBuffer buffer = unsafe().outboundBuffer();
        if (bytes < 0) {
            unsafe().close(voidPromise());
        } else if (buffer != null && isOpen()) {
            // Listeners may write more at once, so the written bytes must be removed before the next write.
            buffer.removeBytes(bytes);
            writing = false;
            if (!buffer.isEmpty()) {
                ((Device) unsafe()).resumeReading();
            }
        }
    }

    @Override
    protected Object filterOutboundMessage(Object message) {
        if (message instanceof ByteBuf) {
            return message;
        }
        throw new UnsupportedOperationException(
                "device: want bytes, have " + message.getClass().getSimpleName());
    }

    @Override
    protected void doClose() {
        threads.close();
    }

    @Override
    public boolean isOpen() {
        return threads.isOpen();
    }

    @Override
    public boolean isActive() {
        return threads.isOpen();
    }

    @Override
    public ChannelConfig config() {
        return config;
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    @Override
    protected boolean isCompatible(EventLoop loop) {
        return true;
    }

    @Override
    protected SocketAddress localAddress0() {
        return address;
    }

    @Override
    protected @Nullable SocketAddress remoteAddress0() {
        return null;
    }

    @Override
    protected void doBind(SocketAddress local) {
        throw new UnsupportedOperationException("device: there is nothing to bind");
    }

    @Override
    protected void doDisconnect() {
        doClose();
    }

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new Device();
    }

    private final class Device extends AbstractUnsafe {
        void resumeReading() {
            flush0();
        }

        /** Finishes the last write, HTTP/2's GOAWAY, which is with the writer when the channel is closed. */
        @Override
        protected Executor prepareToClose() {
            return close -> {
                Thread thread = new Thread(
                        () -> {
                            threads.finish();
                            close.run();
                        },
                        address + " end");
                thread.setDaemon(true);
                thread.start();
            };
        }

        @Override
        public void connect(SocketAddress remote, SocketAddress local, ChannelPromise promise) {
            safeSetFailure(promise, new ClosedChannelException());
        }
    }
}
