package org.cloister.ctl.opening;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.security.cert.CertificateEncodingException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.evidence.CircuitBinding;
import org.cloister.protocol.handover.ProjectUnlock;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.handover.VmMessageOrder;
import org.cloister.protocol.identity.BootIdentity;
import org.cloister.protocol.identity.BootPeerVerifier;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.PeerIdentity;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.tls.TlsCredential;
import org.jspecify.annotations.Nullable;

/**
 * Circuit to a controlling VM whose messages are in order and within their limits, or which is closed. Received
 * messages wait until they are read.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failure shows as the channel's end
final class ControllerBootSession extends ChannelInboundHandlerAdapter implements AutoCloseable {
    private static final long WAIT_S = 60;

    private final Circuit circuit;
    private final BlockingQueue<Optional<VmMessage>> messages = new LinkedBlockingQueue<>();
    private volatile String why = "the VM closed it";
    private volatile boolean broken;
    private @Nullable VmMessageOrder order;

    private ControllerBootSession(Circuit circuit) {
        this.circuit = circuit;
    }

    /**
     * Opens a circuit to the VM.
     *
     * @throws ConnectionLostException if there is no answer, or the peer is not the expected one: the caller may retry
     */
    static ControllerBootSession open(ClientLink link, CircuitTerms terms, TlsCredential own, BootPeerVerifier trust)
            throws ConnectionLostException, InterruptedException {
        AtomicReference<ControllerBootSession> made = new AtomicReference<>();
        Future<Circuit> opened = Circuit.open(link, terms, own, trust, (pipeline, circuit) -> {
            ControllerBootSession session = new ControllerBootSession(circuit);
            made.set(session);
            pipeline.addLast(new MessageFraming(ProtocolLimits.BOOTING_VM_MESSAGE_BYTES, VmMessage::read), session);
        });
        if (!opened.await(WAIT_S, TimeUnit.SECONDS)) {
            opened.addListener((Future<Circuit> late) -> {
                if (late.isSuccess()) {
                    late.getNow().close(CloseReason.NO_ANSWER);
                }
            });
            throw new ConnectionLostException("relay: no answer within " + WAIT_S + " s");
        }
        ControllerBootSession session = made.get();
        if (!opened.isSuccess() || session == null) {
            throw new ConnectionLostException(opened.cause());
        }
        return session;
    }

    /** Returns the identity that the handshake proved. */
    PeerIdentity peerIdentity() {
        return circuit.peerIdentity();
    }

    /** Returns whether the VM has no certificate yet, so that its evidence must be requested first. */
    boolean isBooting() {
        return circuit.peerIdentity() instanceof BootIdentity;
    }

    /** Returns the binding of this circuit, of which the VM is the server. */
    CircuitBinding binding(TlsCredential own) throws IOException {
        try {
            return CircuitBinding.of(
                    circuit.peerCertificates().get(0).getEncoded(),
                    own.chain().get(0).getEncoded());
        } catch (CertificateEncodingException e) {
            throw new IOException("circuit: a certificate has no DER", e);
        }
    }

    void send(VerifierMessage message) {
        circuit.channel()
                .eventLoop()
                .execute(() -> circuit.channel().writeAndFlush(MessageFraming.frame(message.wire())));
    }

    /** Sends the unlock and, in the same step, records that the keys were handed over. */
    void sendUnlock(ProjectUnlock unlock) {
        circuit.channel().eventLoop().execute(() -> {
            if (order != null) {
                order.recordHandover();
                circuit.channel().writeAndFlush(MessageFraming.frame(unlock.wire()));
            }
        });
    }

    /**
     * Returns the next message.
     *
     * @throws ConnectionLostException if the circuit is closed, or no message arrived in time
     * @throws IOException if the VM violated a rule of the conversation
     */
    VmMessage receive(Duration timeout) throws ConnectionLostException, IOException, InterruptedException {
        Optional<VmMessage> next = messages.poll(timeout.toMillis(), TimeUnit.MILLISECONDS);
        if (next == null) {
            throw new ConnectionLostException("controlling VM: no message within " + timeout.toSeconds() + " s");
        }
        if (next.isEmpty()) {
            // Later reads must find the end too.
            messages.add(next);
            if (broken) {
                throw new IOException("controlling VM: " + why);
            }
            throw new ConnectionLostException("circuit: " + why);
        }
        return next.get();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        long now = System.nanoTime();
        order = isBooting() ? VmMessageOrder.forBoot(CertificateRole.CONTROLLER, now) : VmMessageOrder.forUnlocked(now);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws MalformedException {
        VmMessage read = (VmMessage) message;
        if (order != null && !broken) {
            order.accept(read, System.nanoTime());
            if (!(read instanceof VmMessage.UnknownMessage)) {
                messages.add(Optional.of(read));
            }
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == ChannelInputShutdownEvent.INSTANCE) {
            messages.add(Optional.empty());
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        messages.add(Optional.empty());
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        Throwable inner = cause.getCause() instanceof MalformedException ? cause.getCause() : cause;
        why = String.valueOf(inner.getMessage());
        if (inner instanceof MalformedException) {
            broken = true;
            circuit.close(CloseReason.PROTOCOL);
        }
        messages.add(Optional.empty());
    }

    /** Closes the circuit after sending the messages that are queued. */
    @Override
    public void close() {
        circuit.shutdownOutput().awaitUninterruptibly(1, TimeUnit.SECONDS);
        circuit.channel().close().awaitUninterruptibly(1, TimeUnit.SECONDS);
    }
}
