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
    private static final long LOOK_MS = 500;

    private static final int BACKLOG = 512;

    private final ProjectNetwork network;
    private final InetSocketAddress slurmctld;
    private final RpcHeaderPolicy policy;
    private final RpcFilterLimits limits;
    private final Consumer<String> journal;
    private final ConnectionLimiter seats;
    private final RpcRefusalCounter refusals;
    private final Selector selector;
    private final ServerSocketChannel server;
    private final SelectionKey accepting;
    private final Set<FilteredConnection> exchanges = new LinkedHashSet<>();
    private final Set<FilteredConnection> waiting = new LinkedHashSet<>();
    private volatile boolean closed;

    /** Opens the listening socket. */
    RpcFilter(
            ProjectNetwork network,
            int port,
            InetSocketAddress slurmctld,
            RpcHeaderPolicy policy,
            RpcFilterLimits limits,
            Consumer<String> journal)
            throws IOException {
        this.network = network;
        this.slurmctld = slurmctld;
        this.policy = policy;
        this.limits = limits;
        this.journal = journal;
        this.seats = new ConnectionLimiter(limits);
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
     * @param looked receives the counts of refusals at each check of the deadlines
     */
    void run(Consumer<String> looked) throws IOException {
        try (selector) {
            serve(looked);
        } finally {
            new ArrayList<>(exchanges).forEach(this::end);
        }
    }

    private void serve(Consumer<String> looked) throws IOException {
        long lookedNs = System.nanoTime();
        looked.accept(refusals.text());
        while (!closed) {
            selector.select(this::ready, LOOK_MS);
            long nowNs = System.nanoTime();
            admitWaiting(nowNs);
            if (nowNs - lookedNs >= LOOK_MS * 1_000_000) {
                lookedNs = nowNs;
                endOverdue(nowNs);
                looked.accept(refusals.text());
            }
            if (accepting.isValid()) {
                accepting.interestOps(seats.hasRoom() ? SelectionKey.OP_ACCEPT : 0);
            }
        }
    }

    private void ready(SelectionKey key) {
        if (!key.isValid()) {
            return;
        }
        long nowNs = System.nanoTime();
        if (key.attachment() instanceof FilteredConnection exchange) {
            pursue(exchange, key, nowNs);
        } else {
            accept(nowNs);
        }
    }

    private void pursue(FilteredConnection exchange, SelectionKey key, long nowNs) {
        try {
            Optional<RpcRefusal> refusal = exchange.onReady(key, policy, nowNs);
            refusal.ifPresent(why -> refuse(why, exchange.worker(), nowNs));
            if (refusal.isPresent() || exchange.state() == FilteredConnection.State.CLOSED) {
                end(exchange);
            } else if (exchange.state() == FilteredConnection.State.PENDING) {
                waiting.add(exchange);
            }
        } catch (IOException e) {
            // Either end broke off, or slurmctld does not listen: the other end sees its connection close.
            end(exchange);
        }
    }

    private void accept(long nowNs) {
        while (seats.hasRoom()) {
            SocketChannel channel;
            InetAddress worker;
            try {
                channel = server.accept();
                if (channel == null) {
                    return;
                }
                worker = ((InetSocketAddress) channel.getRemoteAddress()).getAddress();
            } catch (IOException e) {
                journal.accept("accept failed reason=\"" + e.getMessage() + "\"");
                return;
            }
            enter(channel, worker, nowNs);
        }
    }

    private void enter(SocketChannel channel, InetAddress worker, long nowNs) {
        Optional<InetAddress> source = network.loopbackAlias(worker);
        if (source.isEmpty()) {
            turnAway(channel, RpcRefusal.of(RpcRefusal.Code.ADDRESS, "not of the project's network"), worker, nowNs);
        } else if (!seats.acquire(worker)) {
            turnAway(
                    channel,
                    RpcRefusal.of(
                            RpcRefusal.Code.CONNECTIONS,
                            "has all " + limits.maxConnectionsPerWorker() + " connections of a worker"),
                    worker,
                    nowNs);
        } else {
            try {
                exchanges.add(new FilteredConnection(worker, source.get(), channel, selector, nowNs));
            } catch (IOException e) {
                seats.release(worker);
                close(channel);
            }
        }
    }

    private void turnAway(SocketChannel channel, RpcRefusal why, InetAddress worker, long nowNs) {
        refuse(why, worker, nowNs);
        close(channel);
    }

    private void admitWaiting(long nowNs) {
        for (Iterator<FilteredConnection> each = waiting.iterator(); each.hasNext(); ) {
            FilteredConnection exchange = each.next();
            if (seats.acquireUpstream(exchange.worker())) {
                each.remove();
                try {
                    exchange.connectUpstream(slurmctld, nowNs);
                } catch (IOException e) {
                    if (!exchange.isUpstreamOpen()) {
                        seats.releaseUpstream(exchange.worker());
                    }
                    end(exchange);
                }
            }
        }
    }

    private void endOverdue(long nowNs) {
        for (FilteredConnection exchange : new ArrayList<>(exchanges)) {
            exchange.findTimeout(limits, nowNs).ifPresent(why -> {
                refuse(why, exchange.worker(), nowNs);
                end(exchange);
            });
        }
    }

    private void refuse(RpcRefusal why, InetAddress worker, long nowNs) {
        refusals.count(why, worker, nowNs).ifPresent(journal);
    }

    private void end(FilteredConnection exchange) {
        exchange.close();
        waiting.remove(exchange);
        if (exchanges.remove(exchange)) {
            if (exchange.isUpstreamOpen()) {
                seats.releaseUpstream(exchange.worker());
            }
            seats.release(exchange.worker());
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
