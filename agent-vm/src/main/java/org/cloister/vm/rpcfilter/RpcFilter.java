package org.cloister.vm.rpcfilter;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Accepts workers' connections and forwards what {@link RpcHeaderPolicy} admits. Runs on one thread, with a bound on
 * everything that it stores.
 */
final class RpcFilter implements AutoCloseable {
    /** Interval of the deadline checks; deadlines are seconds long. */
    private static final long CHECK_INTERVAL_MS = 500;

    private static final int BACKLOG = 512;

    private final ProjectNetwork network;
    private final InetSocketAddress slurmctld;
    private final RpcHeaderPolicy policy;
    private final RpcFilterLimits limits;
    private final Consumer<String> log;
    private final ConnectionLimiter limiter;
    private final RpcRefusalCounter refusals;
    private final Selector selector;
    private final ServerSocketChannel server;
    private final SelectionKey accepting;
    private final Set<FilteredConnection> connections = new LinkedHashSet<>();
    private final Set<FilteredConnection> pending = new LinkedHashSet<>();
    private volatile boolean closed;

    /** Opens the listening socket. */
    RpcFilter(
            ProjectNetwork network,
            int port,
            InetSocketAddress slurmctld,
            RpcHeaderPolicy policy,
            RpcFilterLimits limits,
            Consumer<String> log)
            throws IOException {
        this.network = network;
        this.slurmctld = slurmctld;
        this.policy = policy;
        this.limits = limits;
        this.log = log;
        this.limiter = new ConnectionLimiter(limits);
        this.refusals = new RpcRefusalCounter(System.nanoTime());
        this.selector = Selector.open();
        this.server = ServerSocketChannel.open();
        server.bind(new InetSocketAddress(network.own(), port), BACKLOG);
        server.configureBlocking(false);
        this.accepting = server.register(selector, SelectionKey.OP_ACCEPT);
    }

    int port() throws IOException {
        return ((InetSocketAddress) server.getLocalAddress()).getPort();
    }

    /**
     * Serves connections until {@link #close}.
     *
     * @param onCheck receives the counts of refusals at each check of the deadlines
     */
    void run(Consumer<String> onCheck) throws IOException {
        try (selector) {
            serve(onCheck);
        } finally {
            new ArrayList<>(connections).forEach(this::end);
        }
    }

    private void serve(Consumer<String> onCheck) throws IOException {
        long checkedNs = System.nanoTime();
        onCheck.accept(refusals.text());
        while (!closed) {
            selector.select(this::onReady, CHECK_INTERVAL_MS);
            long nowNs = System.nanoTime();
            connectPending(nowNs);
            if (nowNs - checkedNs >= CHECK_INTERVAL_MS * 1_000_000) {
                checkedNs = nowNs;
                endTimedOut(nowNs);
                onCheck.accept(refusals.text());
            }
            if (accepting.isValid()) {
                accepting.interestOps(limiter.hasRoom() ? SelectionKey.OP_ACCEPT : 0);
            }
        }
    }

    private void onReady(SelectionKey key) {
        if (!key.isValid()) {
            return;
        }
        long nowNs = System.nanoTime();
        if (key.attachment() instanceof FilteredConnection connection) {
            onConnectionReady(connection, key, nowNs);
        } else {
            accept(nowNs);
        }
    }

    private void onConnectionReady(FilteredConnection connection, SelectionKey key, long nowNs) {
        try {
            Optional<RpcRefusal> refusal = connection.onReady(key, policy, nowNs);
            refusal.ifPresent(each -> refuse(each, connection.worker(), nowNs));
            if (refusal.isPresent() || connection.state() == FilteredConnection.State.CLOSED) {
                end(connection);
            } else if (connection.state() == FilteredConnection.State.PENDING) {
                pending.add(connection);
            }
        } catch (IOException e) {
            // Either end broke off, or slurmctld does not listen: the other end sees its connection close.
            end(connection);
        }
    }

    private void accept(long nowNs) {
        while (limiter.hasRoom()) {
            SocketChannel channel;
            InetAddress worker;
            try {
                channel = server.accept();
                if (channel == null) {
                    return;
                }
                worker = ((InetSocketAddress) channel.getRemoteAddress()).getAddress();
            } catch (IOException e) {
                log.accept("accept failed reason=\"" + e.getMessage() + "\"");
                return;
            }
            admit(channel, worker, nowNs);
        }
    }

    private void admit(SocketChannel channel, InetAddress worker, long nowNs) {
        Optional<InetAddress> source = network.loopbackAlias(worker);
        if (source.isEmpty()) {
            refuseAndClose(
                    channel, RpcRefusal.of(RpcRefusal.Code.ADDRESS, "not of the project's network"), worker, nowNs);
        } else if (!limiter.acquire(worker)) {
            refuseAndClose(
                    channel,
                    RpcRefusal.of(
                            RpcRefusal.Code.CONNECTIONS,
                            "has all " + limits.maxConnectionsPerWorker() + " connections of a worker"),
                    worker,
                    nowNs);
        } else {
            try {
                connections.add(new FilteredConnection(worker, source.get(), channel, selector, nowNs));
            } catch (IOException e) {
                limiter.release(worker);
                close(channel);
            }
        }
    }

    private void refuseAndClose(SocketChannel channel, RpcRefusal refusal, InetAddress worker, long nowNs) {
        refuse(refusal, worker, nowNs);
        close(channel);
    }

    private void connectPending(long nowNs) {
        for (Iterator<FilteredConnection> each = pending.iterator(); each.hasNext(); ) {
            FilteredConnection connection = each.next();
            if (limiter.acquireUpstream(connection.worker())) {
                each.remove();
                try {
                    connection.connectUpstream(slurmctld, nowNs);
                } catch (IOException e) {
                    if (!connection.isUpstreamOpen()) {
                        limiter.releaseUpstream(connection.worker());
                    }
                    end(connection);
                }
            }
        }
    }

    private void endTimedOut(long nowNs) {
        for (FilteredConnection connection : new ArrayList<>(connections)) {
            connection.findTimeout(limits, nowNs).ifPresent(refusal -> {
                refuse(refusal, connection.worker(), nowNs);
                end(connection);
            });
        }
    }

    private void refuse(RpcRefusal refusal, InetAddress worker, long nowNs) {
        refusals.count(refusal, worker, nowNs).ifPresent(log);
    }

    private void end(FilteredConnection connection) {
        connection.close();
        pending.remove(connection);
        if (connections.remove(connection)) {
            if (connection.isUpstreamOpen()) {
                limiter.releaseUpstream(connection.worker());
            }
            limiter.release(connection.worker());
        }
    }

    private static void close(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            // The descriptor is released all the same.
            return;
        }
    }

    /** Makes {@link #run} return, which closes all connections. Thread-safe. */
    @Override
    public void close() throws IOException {
        closed = true;
        selector.wakeup();
        server.close();
    }
}
