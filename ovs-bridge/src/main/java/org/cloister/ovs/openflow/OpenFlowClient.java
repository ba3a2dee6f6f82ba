package org.cloister.ovs.openflow;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.cloister.ovs.io.OvsException;
import org.cloister.ovs.io.OvsException.Disconnected;
import org.cloister.ovs.io.OvsException.FlowRefused;
import org.cloister.ovs.io.OvsException.Malformed;
import org.cloister.ovs.io.ReconnectingSocket;
import org.jspecify.annotations.Nullable;

/**
 * OpenFlow controller on a bridge's {@code .mgmt} socket. It has one request at a time: the owner sends the next one
 * after the response. Call every method but {@link #start} on the event loop, where every response arrives.
 */
public final class OpenFlowClient {
    /** Far above a host's flows, of which a port has about 7 of 150 bytes; a longer response is cut off. */
    static final int MAX_ANSWER_BYTES = 32 << 20;

    private final ReconnectingSocket link;
    private final Listener listener;
    private @Nullable PendingRequest question;
    private boolean greeted;
    private int lastXid;
    private long answerBytes;

    /** Receives the connection's events, on the event loop. */
    public interface Listener {
        /** A new switch, whose state is unknown, accepts requests. */
        void onSwitch();

        /** Receives the switch's port notifications. The switch sends each before its response to any later request. */
        default void onPort(PortStatus status) {}

        void onLost(OvsException why);
    }

    /** Receives a response: exactly one of both methods is called, once. */
    public interface ReplyCallback<T> {
        void onResult(T result);

        void onFailure(OvsException why);
    }

    /** A request in progress; determines which message completes it. */
    private abstract static class PendingRequest {
        final String operation;
        final int xid;

        PendingRequest(String operation, int xid) {
            this.operation = operation;
            this.xid = xid;
        }

        /** @return whether this was the last message of the response */
        abstract boolean accept(OpenFlowMessage message) throws Malformed;

        /** Called after the request is cleared, so that the next can be sent. */
        abstract void complete();

        abstract void fail(OvsException why);
    }

    public OpenFlowClient(EventLoop loop, Path socket, Listener listener) {
        this.link = new ReconnectingSocket(loop, socket, new Protocol());
        this.listener = listener;
    }

    public void start() {
        link.start();
    }

    public void close() {
        link.close();
    }

    public boolean isReady() {
        return greeted && question == null;
    }

    public long reconnects() {
        return Math.max(0, link.connections() - 1);
    }

    /** Records that the connection was of use; after its loss the next attempt is made at once. */
    public void markUseful() {
        link.markUseful();
    }

    /** Requests the ports' numbers by device, as the switch of this connection has them. */
    public void ports(ReplyCallback<Map<String, Integer>> answer) {
        Map<String, Integer> ports = new HashMap<>();
        multipart(
                "read ports",
                OpenFlowCodec.PORTS,
                OpenFlowMessage.Ports.class,
                part -> ports.putAll(part.ports()),
                ports,
                answer);
    }

    public void flows(ReplyCallback<List<FlowStats>> answer) {
        List<FlowStats> flows = new ArrayList<>();
        multipart(
                "read flows",
                OpenFlowCodec.FLOWS,
                OpenFlowMessage.Flows.class,
                part -> flows.addAll(part.flows()),
                flows,
                answer);
    }

    public void meters(ReplyCallback<List<FlowMeter>> answer) {
        List<FlowMeter> meters = new ArrayList<>();
        multipart(
                "read meters",
                OpenFlowCodec.METERS,
                OpenFlowMessage.Meters.class,
                part -> meters.addAll(part.meters()),
                meters,
                answer);
    }

    /**
     * Makes all changes of flows at one moment, or none. Meters cannot be part of a bundle: new ones are created before
     * it, and those that no flow names are deleted after it.
     *
     * @param existing meters that exist now
     */
    public void change(FlowChange change, Collection<Integer> existing, ReplyCallback<Boolean> answer) {
        int commit = nextXid();
        change.meters()
                .forEach(meter -> link.queue(OpenFlowCodec.meter(nextXid(), meter, existing.contains(meter.id()))));
        int bundle = commit;
        link.queue(OpenFlowCodec.bundle(nextXid(), bundle, OpenFlowCodec.BUNDLE_OPEN));
        for (FlowEntry.Key key : change.gone()) {
            int xid = nextXid();
            link.queue(OpenFlowCodec.inBundle(xid, bundle, OpenFlowCodec.delete(xid, key)));
        }
        for (FlowEntry flow : change.added()) {
            int xid = nextXid();
            link.queue(OpenFlowCodec.inBundle(xid, bundle, OpenFlowCodec.add(xid, flow)));
        }
        link.queue(OpenFlowCodec.bundle(commit, bundle, OpenFlowCodec.BUNDLE_COMMIT));
        change.goneMeters().forEach(id -> link.queue(OpenFlowCodec.deleteMeter(nextXid(), id)));
        int barrier = nextXid();
        send(
                new PendingRequest(change.operation(), barrier) {
                    private boolean committed;

                    @Override
                    boolean accept(OpenFlowMessage message) throws Malformed {
                        if (message instanceof OpenFlowMessage.BundleControl control) {
                            committed |= control.kind() == OpenFlowCodec.BUNDLE_COMMITTED;
                            return false;
                        }
                        if (message instanceof OpenFlowMessage.Barrier && !committed) {
                            throw new Malformed(operation, "a bundle committed before the barrier", "a barrier alone");
                        }
                        return message instanceof OpenFlowMessage.Barrier;
                    }

                    @Override
                    void complete() {
                        answer.onResult(true);
                    }

                    @Override
                    void fail(OvsException why) {
                        answer.onFailure(why);
                    }
                },
                OpenFlowCodec.empty(OpenFlowCodec.BARRIER_REQUEST, barrier));
    }

    private <M extends OpenFlowMessage.MultipartReply, T> void multipart(
            String operation, int kind, Class<M> parts, Consumer<M> consumer, T result, ReplyCallback<T> answer) {
        int xid = nextXid();
        send(
                new PendingRequest(operation, xid) {
                    @Override
                    boolean accept(OpenFlowMessage message) throws Malformed {
                        if (!(message instanceof OpenFlowMessage.MultipartReply part)) {
                            return false;
                        }
                        if (!parts.isInstance(part)) {
                            throw new Malformed(
                                    operation,
                                    parts.getSimpleName(),
                                    part.getClass().getSimpleName());
                        }
                        consumer.accept(parts.cast(part));
                        return part.isLast();
                    }

                    @Override
                    void complete() {
                        answer.onResult(result);
                    }

                    @Override
                    void fail(OvsException why) {
                        answer.onFailure(why);
                    }
                },
                OpenFlowCodec.multipart(xid, kind));
    }

    private void send(PendingRequest request, ByteBuf message) {
        if (question != null) {
            throw new IllegalStateException(request.operation + " while " + question.operation + " is not answered");
        }
        if (!greeted) {
            message.release();
            request.fail(new Disconnected(request.operation, "none to " + link.socket()));
            return;
        }
        question = request;
        answerBytes = 0;
        link.send(message);
    }

    private int nextXid() {
        return ++lastXid;
    }

    private void receive(OpenFlowMessage.Received received, int bytes) throws OvsException {
        PendingRequest request = question;
        if (request == null) {
            return;
        }
        OpenFlowMessage message = received.message();
        if (message instanceof OpenFlowMessage.ErrorMessage failure) {
            // Further responses to the request may still arrive: only a new connection is sure to have none of them.
            throw new FlowRefused(request.operation, failure.type(), failure.code());
        }
        answerBytes += bytes;
        if (answerBytes > MAX_ANSWER_BYTES) {
            throw new Malformed(
                    request.operation, "an answer of at most " + MAX_ANSWER_BYTES + " bytes", "no end of it");
        }
        if (message instanceof OpenFlowMessage.BundleControl || received.xid() == request.xid) {
            if (request.accept(message)) {
                question = null;
                request.complete();
            }
        }
    }

    /** The protocol on the connection. */
    private final class Protocol implements ReconnectingSocket.Peer {
        @Override
        public void initialise(Channel channel) {
            channel.pipeline().addLast(OpenFlowCodec.frames());
        }

        @Override
        public void onConnected() {
            link.send(OpenFlowCodec.hello(nextXid()));
        }

        @Override
        public void onMessage(Object message) throws OvsException {
            ByteBuf in = (ByteBuf) message;
            try {
                int bytes = in.readableBytes();
                OpenFlowMessage.Received received = OpenFlowMessage.read(in);
                if (received.message() instanceof OpenFlowMessage.Hello hello) {
                    greet(hello.version());
                } else if (received.message() instanceof OpenFlowMessage.Echo echo) {
                    link.send(OpenFlowCodec.message(OpenFlowCodec.ECHO_REPLY, received.xid(), echo.contents()));
                } else if (received.message() instanceof OpenFlowMessage.PortStatusMessage portStatus) {
                    listener.onPort(portStatus.status());
                } else {
                    receive(received, bytes);
                }
            } finally {
                in.release();
            }
        }

        private void greet(int version) throws Malformed {
            if (version < OpenFlowCodec.VERSION) {
                throw new Malformed(
                        "OpenFlow hello",
                        "version " + OpenFlowCodec.VERSION + " (OpenFlow 1.4) or above",
                        "version " + version);
            }
            greeted = true;
            link.send(OpenFlowCodec.listen(nextXid()));
            listener.onSwitch();
        }

        @Override
        public void onDisconnected(OvsException why) {
            greeted = false;
            PendingRequest request = question;
            question = null;
            if (request != null) {
                request.fail(
                        why instanceof FlowRefused ? why : new Disconnected(request.operation, why.getMessage() + ""));
            }
            listener.onLost(why);
        }

        @Override
        public void probe() {
            link.send(OpenFlowCodec.empty(OpenFlowCodec.ECHO_REQUEST, nextXid()));
        }
    }
}
