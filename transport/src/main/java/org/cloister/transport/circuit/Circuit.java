package org.cloister.transport.circuit;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.security.cert.Certificate;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.BootPeerVerifier;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.PeerIdentity;
import org.cloister.protocol.identity.PeerVerifier;
import org.cloister.protocol.link.ProtocolVersions;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.StreamBytes;
import org.cloister.transport.link.StreamRequest;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.transport.tls.TlsProfile;

/**
 * Open circuit, at one end: both ends are authenticated and agreed on the same terms. Its bytes pass through the
 * channel's pipeline, on the channel's event loop; switching auto-read off there holds back the other end.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failure on a channel is reported as its end
public final class Circuit {
    /** Adds the handlers for the bytes, on the channel's event loop, before the first byte. */
    @FunctionalInterface
    public interface Application {
        void install(ChannelPipeline pipeline, Circuit circuit);
    }

    private final Channel channel;
    /** Saved from the channel's pipeline, which has no handlers after the channel is closed. */
    private final StreamBytes stream;

    private final SslHandler tls;
    private final CircuitTerms terms;
    private final CircuitClose.Side own;
    private final int version;
    private final PeerIdentity peer;

    /** Creates the circuit on the channel's event loop, while the channel is open. */
    Circuit(Channel channel, CircuitTerms terms, CircuitClose.Side own, int version, PeerIdentity peer) {
        this.channel = channel;
        this.stream = channel.pipeline().get(StreamBytes.class);
        this.tls = channel.pipeline().get(SslHandler.class);
        this.terms = terms;
        this.own = own;
        this.version = version;
        this.peer = peer;
    }

    /**
     * Opens a circuit to a name of the caller's project. Fails with a {@code CircuitException}.
     *
     * @param own of the name {@code terms.from()}
     * @param trust of the project; only {@code terms.to()} is accepted
     */
    public static Future<Circuit> open(
            ClientLink link,
            CircuitTerms terms,
            TlsCredential own,
            CertifiedPeerVerifier trust,
            Application application) {
        return openTo(link, terms, own, trust.only(terms.to()), application);
    }

    /** Opens a circuit to a booting VM; {@link #peerIdentity} returns the peer. */
    public static Future<Circuit> open(
            ClientLink link, CircuitTerms terms, TlsCredential own, BootPeerVerifier trust, Application application) {
        return openTo(link, terms, own, trust.only(terms.to()), application);
    }

    private static Future<Circuit> openTo(
            ClientLink link, CircuitTerms terms, TlsCredential own, PeerVerifier trust, Application application) {
        StreamRequest.Circuit request =
                new StreamRequest.Circuit(ProtocolVersions.OURS, terms.to(), terms.from(), terms.policy());
        CircuitHandshakePeer peer = new CircuitHandshakePeer(trust);
        CircuitEndpoint.Half half =
                new CircuitEndpoint.Half(CircuitClose.Side.OPENER, TlsProfile.CIRCUIT.client(own, peer), peer);
        return on(link, request, half, terms, application);
    }

    /**
     * Answers a Dial on the link on which it was received. Fails with a {@code CircuitException}.
     *
     * @param own of the name {@code dial.to()}
     * @param trust of the project; only {@code dial.from()} is accepted
     */
    public static Future<Circuit> dialBack(
            ClientLink link,
            RelayMessage.Dial dial,
            TlsCredential own,
            CertifiedPeerVerifier trust,
            Application application) {
        return answer(link, dial, own, trust.only(dial.from()), application);
    }

    /** Answers a Dial of a booting VM; {@link #peerIdentity} returns the peer. */
    public static Future<Circuit> dialBack(
            ClientLink link,
            RelayMessage.Dial dial,
            TlsCredential own,
            BootPeerVerifier trust,
            Application application) {
        return answer(link, dial, own, trust.only(dial.from()), application);
    }

    private static Future<Circuit> answer(
            ClientLink link, RelayMessage.Dial dial, TlsCredential own, PeerVerifier trust, Application application) {
        StreamRequest.DialBack request = new StreamRequest.DialBack(ProtocolVersions.OURS, dial.token());
        CircuitHandshakePeer peer = new CircuitHandshakePeer(trust);
        CircuitEndpoint.Half half =
                new CircuitEndpoint.Half(CircuitClose.Side.TARGET, TlsProfile.CIRCUIT.server(own, peer), peer);
        CircuitTerms terms = new CircuitTerms(dial.from(), dial.to(), dial.policy());
        return on(link, request, half, terms, application);
    }

    private static Future<Circuit> on(
            ClientLink link,
            StreamRequest request,
            CircuitEndpoint.Half half,
            CircuitTerms terms,
            Application application) {
        Promise<Circuit> promise = link.loop().newPromise();
        link.open(
                        request,
                        stream -> CircuitEndpoint.install(
                                stream.pipeline(), half, terms, ProtocolVersions.OURS, promise, application))
                .addListener((Future<Http2StreamChannel> opened) -> {
                    if (!opened.isSuccess()) {
                        promise.tryFailure(opened.cause());
                    }
                });
        return promise;
    }

    public Channel channel() {
        return channel;
    }

    public CircuitTerms terms() {
        return terms;
    }

    /** Returns the version that both ends speak. */
    public int version() {
        return version;
    }

    /**
     * Returns the other end's identity, as verified when the circuit opened.
     *
     * @throws IllegalStateException if it is a booting VM, which no authority has certified: see {@link #peerIdentity}
     */
    public CertifiedIdentity peer() {
        if (peer instanceof CertifiedIdentity certified) {
            return certified;
        }
        throw new IllegalStateException(
                "circuit with " + peer.name() + ": want a peer who was certified, have one that boots");
    }

    /**
     * Returns the other end's identity where it may be a booting VM; a circuit with one is for the boot conversation
     * alone.
     */
    public PeerIdentity peerIdentity() {
        return peer;
    }

    /** Returns the other end's certificates, the leaf first. */
    public List<Certificate> peerCertificates() {
        try {
            return List.of(tls.engine().getSession().getPeerCertificates());
        } catch (SSLPeerUnverifiedException e) {
            throw new IllegalStateException("a circuit is open and its peer unknown", e);
        }
    }

    /** Ends the output; the other direction stays open. Does nothing if the circuit has ended. Thread-safe. */
    public ChannelFuture shutdownOutput() {
        return unlessOver(done -> tls.closeOutbound().addListener(closed -> pass(stream.shutdownOutput(), done)));
    }

    /**
     * Closes both directions at once and sends the reason to the other side, as far as the relay forwards it. No
     * {@code close_notify} is sent, so that the other side does not treat the received bytes as complete. Does nothing
     * if the circuit has ended. Thread-safe.
     */
    public ChannelFuture close(CloseReason why) {
        return unlessOver(done -> {
            // Added on the event loop: one that has ended would log each listener that it cannot notify.
            done.addListener(written -> channel.close());
            pass(stream.shutdownOutput(new CircuitClose(own, why)), done);
        });
    }

    private ChannelFuture unlessOver(Consumer<ChannelPromise> write) {
        ChannelPromise promise = channel.newPromise();
        try {
            channel.eventLoop().execute(() -> {
                if (channel.isActive()) {
                    write.accept(promise);
                } else {
                    promise.trySuccess();
                }
            });
        } catch (RejectedExecutionException e) {
            // The event loop has ended, and the circuit with it.
            promise.trySuccess();
        }
        return promise;
    }

    private void pass(ChannelFuture from, ChannelPromise to) {
        from.addListener(done -> {
            if (done.isSuccess() || !channel.isActive()) {
                to.trySuccess();
            } else {
                to.tryFailure(done.cause());
            }
        });
    }
}
