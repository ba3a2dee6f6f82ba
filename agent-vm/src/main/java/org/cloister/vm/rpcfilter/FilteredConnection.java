package org.cloister.vm.rpcfilter;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Connection of a worker: reads the header of its one message and applies the policy to it, then connects to slurmctld,
 * forwards the rest of the message, and passes the response unchanged. Used on the filter's one thread; times are in
 * nanoseconds.
 */
final class FilteredConnection {
    /** The next event that the connection waits for. */
    enum State {
        HEADER,
        PENDING,
        RELAYING,
        CLOSED
    }

    private final InetAddress worker;
    private final InetAddress source;
    private final SocketChannel from;
    private final SelectionKey fromKey;
    private final ByteBuffer headerBytes = ByteBuffer.allocate(SlurmMessageHeader.BYTES);
    private final ForwardBuffer response = new ForwardBuffer(Long.MAX_VALUE);
    private State state = State.HEADER;
    private ForwardBuffer request = new ForwardBuffer(0);
    private @Nullable SocketChannel to;
    private @Nullable SelectionKey toKey;
    private boolean workerEnded;
    private boolean endForwarded;
    private long sinceNs;
    private long movedNs;

    /**
     * Registers an accepted connection.
     *
     * @param source loopback address that represents the worker on the connection to slurmctld
     */
    FilteredConnection(InetAddress worker, InetAddress source, SocketChannel from, Selector selector, long nowNs)
            throws IOException {
        this.worker = worker;
        this.source = source;
        this.from = from;
        this.sinceNs = nowNs;
        this.movedNs = nowNs;
        from.configureBlocking(false);
        from.setOption(StandardSocketOptions.TCP_NODELAY, true);
        this.fromKey = from.register(selector, SelectionKey.OP_READ, this);
    }

    InetAddress worker() {
        return worker;
    }

    State state() {
        return state;
    }

    boolean isUpstreamOpen() {
        return to != null;
    }

    /**
     * Reads and writes what the socket is ready for.
     *
     * @return why the connection must be closed, if its header or what follows is not permitted
     */
    Optional<RpcRefusal> onReady(SelectionKey key, RpcHeaderPolicy policy, long nowNs) throws IOException {
        Optional<RpcRefusal> refusal = Optional.empty();
        if (key == fromKey) {
            refusal = state == State.HEADER ? readHeader(policy, nowNs) : fromWorker(nowNs);
        } else {
            fromSlurmctld(nowNs);
        }
        if (refusal.isEmpty()) {
            updateInterest();
        }
        return refusal;
    }

    private Optional<RpcRefusal> readHeader(RpcHeaderPolicy policy, long nowNs) throws IOException {
        if (from.read(headerBytes) < 0) {
            state = State.CLOSED;
            return Optional.empty();
        }
        if (headerBytes.hasRemaining()) {
            return Optional.empty();
        }
        SlurmMessageHeader header = SlurmMessageHeader.decode(headerBytes.flip());
        Optional<RpcRefusal> refusal = policy.check(header);
        if (refusal.isEmpty()) {
            request = new ForwardBuffer(header.length() - SlurmMessageHeader.LEAST_LENGTH);
            request.put(headerBytes.rewind());
            state = State.PENDING;
            sinceNs = nowNs;
        }
        return refusal;
    }

    /** Connects to slurmctld from the address that represents the worker. */
    void connectUpstream(InetSocketAddress slurmctld, long nowNs) throws IOException {
        SocketChannel channel = SocketChannel.open();
        to = channel;
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.bind(new InetSocketAddress(source, 0));
        channel.connect(slurmctld);
        toKey = channel.register(fromKey.selector(), SelectionKey.OP_CONNECT, this);
        state = State.RELAYING;
        sinceNs = nowNs;
        movedNs = nowNs;
        updateInterest();
    }

    private Optional<RpcRefusal> fromWorker(long nowNs) throws IOException {
        if (fromKey.isReadable()) {
            if (!request.isComplete()) {
                if (request.read(from)) {
                    movedNs = nowNs;
                }
                workerEnded = request.isEnded();
            } else if (!workerEnded) {
                int read = from.read(ByteBuffer.allocate(1));
                if (read > 0) {
                    return Optional.of(RpcRefusal.of(RpcRefusal.Code.EXTRA, "bytes behind the one message"));
                }
                workerEnded = read < 0;
            }
        }
        if (fromKey.isWritable() && response.write(from)) {
            movedNs = nowNs;
        }
        return Optional.empty();
    }

    private void fromSlurmctld(long nowNs) throws IOException {
        SocketChannel channel = to;
        SelectionKey key = toKey;
        if (channel == null || key == null) {
            return;
        }
        if (key.isConnectable()) {
            channel.finishConnect();
        }
        if (key.isWritable() && request.write(channel)) {
            movedNs = nowNs;
        }
        if (key.isReadable() && response.read(channel)) {
            movedNs = nowNs;
        }
    }

    /** Determines the next state and the events for which each socket is selected. */
    private void updateInterest() throws IOException {
        SocketChannel channel = to;
        SelectionKey key = toKey;
        if (state != State.RELAYING || channel == null || key == null) {
            fromKey.interestOps(state == State.HEADER ? SelectionKey.OP_READ : 0);
            return;
        }
        boolean incomplete = workerEnded && !request.isComplete();
        if (incomplete || (response.isEnded() && !response.hasBytes())) {
            state = State.CLOSED;
            return;
        }
        if (workerEnded && !request.hasBytes() && channel.isConnected() && !endForwarded) {
            channel.shutdownOutput();
            endForwarded = true;
        }
        boolean reads = request.wantsBytes() || (request.isComplete() && !workerEnded);
        fromKey.interestOps((reads ? SelectionKey.OP_READ : 0) | (response.hasBytes() ? SelectionKey.OP_WRITE : 0));
        key.interestOps(
                !channel.isConnected()
                        ? SelectionKey.OP_CONNECT
                        : (request.hasBytes() ? SelectionKey.OP_WRITE : 0)
                                | (response.wantsBytes() ? SelectionKey.OP_READ : 0));
    }

    /**
     * Checks the time limits.
     *
     * @return why the connection must be closed, if it takes longer than permitted
     */
    Optional<RpcRefusal> findTimeout(RpcFilterLimits limits, long nowNs) {
        if (state == State.HEADER && nowNs - sinceNs > limits.headerTimeout().toNanos()) {
            return timeout("no whole header within " + limits.headerTimeout().toSeconds() + " s");
        }
        boolean requesting = state == State.PENDING || (state == State.RELAYING && !request.isComplete());
        if (requesting && nowNs - sinceNs > limits.requestTimeout().toNanos()) {
            return timeout("no whole message within " + limits.requestTimeout().toSeconds() + " s");
        }
        if (state == State.RELAYING && nowNs - movedNs > limits.idleTimeout().toNanos()) {
            return timeout("no byte for " + limits.idleTimeout().toSeconds() + " s");
        }
        return Optional.empty();
    }

    private static Optional<RpcRefusal> timeout(String text) {
        return Optional.of(RpcRefusal.of(RpcRefusal.Code.SLOW, text));
    }

    /** Closes both sockets; idempotent. */
    void close() {
        state = State.CLOSED;
        closeQuietly(from);
        if (to != null) {
            closeQuietly(to);
        }
    }

    private static void closeQuietly(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            // The descriptor is released all the same, and nothing waits for the unsent bytes.
            return;
        }
    }
}
