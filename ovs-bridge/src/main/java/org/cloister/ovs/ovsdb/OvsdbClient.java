package org.cloister.ovs.ovsdb;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.cloister.ovs.io.OvsException;
import org.cloister.ovs.io.OvsException.Disconnected;
import org.cloister.ovs.io.OvsException.Malformed;
import org.cloister.ovs.io.OvsException.TransactionRefused;
import org.cloister.ovs.io.ReconnectingSocket;
import org.jspecify.annotations.Nullable;

/**
 * Client of one database on one server. Connects until it succeeds, copies the monitored rows, keeps them current, and
 * starts over after a lost connection. Call every method but {@link #start} on the event loop, where every response
 * arrives.
 */
public final class OvsdbClient {
    private static final String DATABASE = "Open_vSwitch";
    private static final String MONITOR = "rows";

    private final ReconnectingSocket link;
    private final OvsdbColumns columns;
    private final Listener listener;
    private final Map<Long, Pending> pending = new HashMap<>();
    private @Nullable OvsdbReplica database;
    private long lastId;

    /** Receives the copy's events, on the event loop. */
    public interface Listener {
        /** The copy is complete or has changed. */
        void onRows(OvsdbReplica database);

        /** The copy is invalid until {@link #onRows} is called again. */
        void onLost(OvsException why);
    }

    /** Receives the response to a request: exactly one of both methods is called, once. */
    public interface ReplyCallback {
        void onResult(JsonNode result) throws Malformed;

        void onFailure(OvsException why);
    }

    private record Pending(String operation, ReplyCallback answer) {}

    public OvsdbClient(EventLoop loop, Path socket, OvsdbColumns columns, Listener listener) {
        this.link = new ReconnectingSocket(loop, socket, new Connection());
        this.columns = columns;
        this.listener = listener;
    }

    public void start() {
        link.start();
    }

    public void close() {
        link.close();
    }

    /** Returns how often the connection was lost and made again. */
    public long reconnects() {
        return Math.max(0, link.connections() - 1);
    }

    /**
     * Sends a transaction. A result has one element for each operation; an error inside it is a failure like one beside
     * it.
     */
    public void transact(String operation, OvsdbTransaction transaction, ReplyCallback answer) {
        ArrayNode params = JsonRpc.NODES.arrayNode().add(DATABASE);
        params.addAll(transaction.operations());
        call(operation, "transact", params, new ReplyCallback() {
            @Override
            public void onResult(JsonNode result) throws Malformed {
                TransactionRefused refusal = refusal(operation, transaction, result);
                if (refusal == null) {
                    answer.onResult(result);
                } else {
                    answer.onFailure(refusal);
                }
            }

            @Override
            public void onFailure(OvsException why) {
                answer.onFailure(why);
            }
        });
    }

    /**
     * Returns the error in a result (RFC 7047, section 4.1.3), which has null for an operation that was not done, and
     * an error in the place of the failed one or after the last.
     */
    static @Nullable TransactionRefused refusal(String operation, OvsdbTransaction transaction, JsonNode result)
            throws Malformed {
        if (!result.isArray() || result.size() < transaction.size()) {
            throw new Malformed(operation, "a list of " + transaction.size() + " results", result.toString());
        }
        for (JsonNode each : result) {
            if (each.hasNonNull("error")) {
                return new TransactionRefused(
                        operation,
                        each.get("error").asText(),
                        each.path("details").asText(""));
            }
        }
        return null;
    }

    private void call(String operation, String method, ArrayNode params, ReplyCallback answer) {
        if (!link.isConnected()) {
            answer.onFailure(new Disconnected(operation, "none to " + link.socket()));
            return;
        }
        long id = ++lastId;
        pending.put(id, new Pending(operation, answer));
        link.send(Unpooled.wrappedBuffer(JsonRpc.request(id, method, params)));
    }

    private void monitor(String method) {
        ArrayNode params = JsonRpc.NODES.arrayNode().add(DATABASE).add(MONITOR);
        params.add(columns.requests());
        call("OVSDB " + method, method, params, new ReplyCallback() {
            @Override
            public void onResult(JsonNode result) throws Malformed {
                OvsdbReplica copy = new OvsdbReplica(columns);
                if (method.equals("monitor_cond")) {
                    copy.update2(result);
                } else {
                    copy.update(result);
                }
                database = copy;
                link.markUseful();
                listener.onRows(copy);
            }

            @Override
            public void onFailure(OvsException why) {
                // Servers before Open vSwitch 2.6 support the RFC's method only.
                if (method.equals("monitor_cond")
                        && why instanceof TransactionRefused refused
                        && refused.code().equals("unknown method")) {
                    monitor("monitor");
                } else {
                    link.drop(why);
                }
            }
        });
    }

    private void reply(JsonRpc.Message.Reply reply) throws Malformed {
        Pending call = reply.id().canConvertToLong() ? pending.remove(reply.id().longValue()) : null;
        if (call == null) {
            if (reply.id().isTextual() && reply.id().textValue().equals("echo")) {
                return;
            }
            throw new Malformed("OVSDB reply", "the id of a request", reply.id().toString());
        }
        JsonNode error = reply.error();
        if (error == null) {
            call.answer.onResult(reply.result());
        } else {
            String code = error.isObject() ? error.path("error").asText() : error.asText();
            call.answer.onFailure(new TransactionRefused(
                    call.operation, code, error.path("details").asText("")));
        }
    }

    private void notified(JsonRpc.Message.Notification notification) throws Malformed {
        JsonNode params = notification.params();
        OvsdbReplica copy = database;
        if (copy == null || params.size() != 2 || !MONITOR.equals(params.get(0).textValue())) {
            throw new Malformed("OVSDB notification", "an update of " + MONITOR, params.toString());
        }
        switch (notification.method()) {
            case "update" -> copy.update(params.get(1));
            case "update2" -> copy.update2(params.get(1));
            default -> throw new Malformed("OVSDB notification", "update or update2", notification.method());
        }
        listener.onRows(copy);
    }

    /** The protocol on the connection. */
    private final class Connection implements ReconnectingSocket.Peer {
        @Override
        public void initialise(Channel channel) {
            channel.pipeline().addLast(JsonRpc.frames());
        }

        @Override
        public void onConnected() {
            monitor("monitor_cond");
        }

        @Override
        public void onMessage(Object message) throws OvsException {
            ByteBuf bytes = (ByteBuf) message;
            byte[] copy;
            try {
                copy = ByteBufUtil.getBytes(bytes);
            } finally {
                bytes.release();
            }
            JsonRpc.Message read = JsonRpc.read(copy);
            if (read instanceof JsonRpc.Message.Reply reply) {
                reply(reply);
            } else if (read instanceof JsonRpc.Message.Notification notification) {
                notified(notification);
            } else if (read instanceof JsonRpc.Message.Request request) {
                if (!request.method().equals("echo")) {
                    throw new Malformed("OVSDB request", "echo", request.method());
                }
                link.send(Unpooled.wrappedBuffer(JsonRpc.reply(request.id(), request.params())));
            }
        }

        @Override
        public void onDisconnected(OvsException why) {
            database = null;
            Map<Long, Pending> lost = new HashMap<>(pending);
            pending.clear();
            lost.values()
                    .forEach(call ->
                            call.answer.onFailure(new Disconnected(call.operation, String.valueOf(why.getMessage()))));
            listener.onLost(why);
        }

        @Override
        public void probe() {
            link.send(Unpooled.wrappedBuffer(JsonRpc.echo()));
        }
    }
}
