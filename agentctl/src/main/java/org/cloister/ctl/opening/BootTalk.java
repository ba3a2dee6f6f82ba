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
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.circuit.Circuit;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.evidence.CircuitBinding;
import org.cloister.protocol.handover.Unlock;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.handover.VmTurns;
import org.cloister.protocol.identity.BootIdentity;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.identity.Shown;
import org.cloister.protocol.link.BootTrust;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.link.LinkLimits;
import org.jspecify.annotations.Nullable;

/** One circuit to a controlling VM: in order and within its limits, or ended. What comes waits until it is asked for. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes as its end
final class BootTalk extends ChannelInboundHandlerAdapter implements AutoCloseable {
    private static final long WAIT_S = 60;

    private final Circuit circuit;
    private final BlockingQueue<Optional<VmMessage>> heard = new LinkedBlockingQueue<>();
    private volatile String why = "the VM ended it";
    private volatile boolean broken;
    private @Nullable VmTurns turns;

    private BootTalk(Circuit circuit) {
        this.circuit = circuit;
    }

    /** @throws LostException nobody answers, or not who should: it may be tried again */
    static BootTalk open(Link link, CircuitTerms terms, Credential own, BootTrust trust)
            throws LostException, InterruptedException {
        AtomicReference<BootTalk> made = new AtomicReference<>();
        Future<Circuit> opened = Circuit.open(link, terms, own, trust, (pipeline, circuit) -> {
            BootTalk talk = new BootTalk(circuit);
            made.set(talk);
            pipeline.addLast(new Framing(LinkLimits.FROM_BOOTING_BYTES, VmMessage::read), talk);
        });
        if (!opened.await(WAIT_S, TimeUnit.SECONDS)) {
            opened.addListener((Future<Circuit> late) -> {
                if (late.isSuccess()) {
                    late.getNow().end(CloseReason.NO_ANSWER);
                }
            });
            throw new LostException("relay: want an answer within " + WAIT_S + " s, have none");
        }
        BootTalk talk = made.get();
        if (!opened.isSuccess() || talk == null) {
            throw new LostException(opened.cause());
        }
        return talk;
    }

    /** Whom the handshake found. */
    Shown shown() {
        return circuit.shown();
    }

    /** Whether nobody has certified it yet, so that all begins with a question. */
    boolean boots() {
        return circuit.shown() instanceof BootIdentity;
    }

    /** The VM is the server of its circuit. */
    CircuitBinding binding(Credential own) throws IOException {
        try {
            return CircuitBinding.of(
                    circuit.peerCertificates().get(0).getEncoded(),
                    own.chain().get(0).getEncoded());
        } catch (CertificateEncodingException e) {
            throw new IOException("circuit: a certificate has no DER", e);
        }
    }

    void say(VerifierMessage message) {
        circuit.channel().eventLoop().execute(() -> circuit.channel().writeAndFlush(Framing.frame(message.wire())));
    }

    /** Says it and that keys and all are on their way, in one. */
    void give(Unlock unlock) {
        circuit.channel().eventLoop().execute(() -> {
            if (turns != null) {
                turns.given();
                circuit.channel().writeAndFlush(Framing.frame(unlock.wire()));
            }
        });
    }

    /**
     * The next that came.
     *
     * @throws LostException the circuit is over, or nothing came in time
     * @throws IOException the VM broke a rule of the conversation
     */
    VmMessage hear(Duration patience) throws LostException, IOException, InterruptedException {
        Optional<VmMessage> next = heard.poll(patience.toMillis(), TimeUnit.MILLISECONDS);
        if (next == null) {
            throw new LostException("controlling VM: want a word within " + patience.toSeconds() + " s, have none");
        }
        if (next.isEmpty()) {
            // The end stays the end.
            heard.add(next);
            if (broken) {
                throw new IOException("controlling VM: " + why);
            }
            throw new LostException("circuit: " + why);
        }
        return next.get();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        long now = System.nanoTime();
        turns = boots() ? VmTurns.asked(Role.CONTROLLER, now) : VmTurns.unlocked(now);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws MalformedException {
        VmMessage read = (VmMessage) message;
        if (turns != null && !broken) {
            turns.heard(read, System.nanoTime());
            if (!(read instanceof VmMessage.Skipped)) {
                heard.add(Optional.of(read));
            }
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == ChannelInputShutdownEvent.INSTANCE) {
            heard.add(Optional.empty());
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        heard.add(Optional.empty());
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        Throwable inner = cause.getCause() instanceof MalformedException ? cause.getCause() : cause;
        why = String.valueOf(inner.getMessage());
        if (inner instanceof MalformedException) {
            broken = true;
            circuit.end(CloseReason.PROTOCOL);
        }
        heard.add(Optional.empty());
    }

    /** What was said before goes out first. */
    @Override
    public void close() {
        circuit.endOutput().awaitUninterruptibly(1, TimeUnit.SECONDS);
        circuit.channel().close().awaitUninterruptibly(1, TimeUnit.SECONDS);
    }
}
