package org.cloister.relay.tickets;

import com.google.protobuf.ByteString;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.TicketStreamProof;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.link.StreamBytes;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts ticket streams: authenticates a controlling VM independently of the host that forwards its stream, and passes
 * the messages on in order. Signatures are verified on threads that projects use in turns, so that circuits do not wait
 * for them; time-outs run on the event loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failure shows as the stream's end
public final class TicketStreamAcceptor {
    private static final Logger LOG = LoggerFactory.getLogger(TicketStreamAcceptor.class);

    private final TicketLifecycle tickets;
    private final TrustStore trustStore;
    private final CertificateName relay;
    private final TicketStreamLimits limits;
    private final SecureRandom random = new SecureRandom();

    public TicketStreamAcceptor(
            TicketLifecycle tickets, TrustStore trustStore, CertificateName relay, TicketStreamLimits limits) {
        this.tickets = tickets;
        this.trustStore = trustStore;
        this.relay = relay;
        this.limits = limits;
    }

    /**
     * Installs the stream's handlers; must be called before the stream has its response.
     *
     * @param link identity of the link's peer
     * @param chain the chain with which that peer authenticated
     * @param from the controlling VM for which a host claims to forward the stream
     * @return false if the peer, or its project or host, has reached its limit of streams
     */
    public boolean accept(
            Channel stream, CertifiedIdentity link, List<ByteString> chain, Optional<CertificateName> from) {
        String peer = link.name() + from.map(name -> " " + name).orElse("");
        if (!limits.acquireStream(peer, stream.closeFuture())
                || (from.isEmpty()
                        && !limits.acquirePayerStream(TicketPeer.payer(link.name()), stream.closeFuture()))) {
            return false;
        }
        MessageFlowControl flowControl = new MessageFlowControl(stream);
        stream.pipeline()
                .addLast(new StreamBytes(), flowControl.messages(), new StreamHandler(flowControl, link, chain, from));
        return true;
    }

    private final class StreamHandler extends ChannelInboundHandlerAdapter {
        private final MessageFlowControl flowControl;
        private final CertifiedIdentity link;
        private final List<ByteString> linkChain;
        private final Optional<CertificateName> from;
        private final byte[] nonce = new byte[TicketStreamProof.NONCE_BYTES];

        /**
         * Set once a message has arrived, used on the event loop only: a proof that is still being verified counts as
         * in time.
         */
        private boolean received;
        // Written by the one thread that checks the stream's current message.
        private volatile List<ByteString> chain = List.of();
        private volatile @Nullable TicketPeer peer;

        StreamHandler(
                MessageFlowControl flowControl,
                CertifiedIdentity link,
                List<ByteString> linkChain,
                Optional<CertificateName> from) {
            this.flowControl = flowControl;
            this.link = link;
            this.linkChain = linkChain;
            this.from = from;
            random.nextBytes(nonce);
        }

        /** Starts the conversation when the caller has sent the stream's response. */
        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event == ChannelInputShutdownEvent.INSTANCE) {
                ctx.close();
            } else if (event == ResponseSent.NOW && from.isEmpty()) {
                welcome(ctx, link);
            } else if (event == ResponseSent.NOW) {
                ctx.writeAndFlush(MessageFraming.frame(
                        new RelayTicketMessage.Challenge(ByteString.copyFrom(nonce), relay.toString()).wire()));
                ctx.executor()
                        .schedule(
                                () -> {
                                    if (!received) {
                                        ctx.close();
                                    }
                                },
                                ProtocolLimits.FIRST_REQUEST.toMillis(),
                                TimeUnit.MILLISECONDS);
            }
        }

        private void welcome(ChannelHandlerContext ctx, CertifiedIdentity who) {
            TicketPeer current =
                    new TicketPeer(ctx.channel(), who, from.isEmpty() ? linkChain : chain, flowControl, limits);
            peer = current;
            tickets.addPeer(current, chain);
            ctx.channel().closeFuture().addListener(closed -> tickets.removePeer(current));
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object read) {
            flowControl.onMessage();
            limits.metrics().messages.inc();
            received = true;
            AgentTicketMessage message = (AgentTicketMessage) read;
            TicketPeer current = peer;
            String payer = current == null ? TicketPeer.payer(link.name()) : current.payer();
            long cost = MessageCost.of(message, current == null ? List.of() : current.verifiedChain());
            long sinceNs = System.nanoTime();
            if (!limits.checks().submit(payer, cost, () -> check(ctx, message, payer, sinceNs))) {
                end(ctx, new MalformedException("the relay has no room for another message to check"));
            }
        }

        /** Checks a message on a thread of the checks. */
        private void check(ChannelHandlerContext ctx, AgentTicketMessage message, String payer, long sinceNs) {
            boolean late = System.nanoTime() - sinceNs > ProtocolLimits.WORK_TIME.toNanos();
            TicketPeer current = peer;
            try {
                if (current == null) {
                    authenticate(ctx, message);
                    limits.checks().finish(payer);
                    flowControl.onSkipped();
                } else if (message instanceof AgentTicketMessage.Proof) {
                    throw new MalformedException("a second proof came on the stream");
                } else if (late && isRepeatable(current, message)) {
                    limits.metrics().messagesRefused.inc();
                    current.answer(RefusalMessages.workLimitReached(ticket(message), payer));
                } else {
                    tickets.onMessage(current, chain, message);
                }
            } catch (IOException | RuntimeException e) {
                limits.checks().charge(payer, MessageCost.REFUSED);
                limits.checks().finish(payer);
                ctx.executor().execute(() -> end(ctx, e));
            } finally {
                flowControl.onChecked();
            }
        }

        private void authenticate(ChannelHandlerContext ctx, AgentTicketMessage message) throws IOException {
            if (!(message instanceof AgentTicketMessage.Proof proof)) {
                throw new MalformedException("expected a proof as the first message");
            }
            CertifiedIdentity who = prove(proof);
            if (!limits.acquirePayerStream(
                    TicketPeer.payer(who.name()), ctx.channel().closeFuture())) {
                throw new MalformedException(
                        "the project has " + ProtocolLimits.PROJECT_STREAMS + " ticket streams, which is the limit");
            }
            chain = proof.chain();
            welcome(ctx, who);
        }

        private CertifiedIdentity prove(AgentTicketMessage.Proof proof) throws IOException {
            CertificateChain claimedChain = CertificateChain.parse(
                    proof.chain().stream().map(ByteString::toByteArray).toList());
            requireName(claimedChain.claimed());
            CertifiedIdentity who = trustStore.verify(claimedChain, Set.of(CertificateRole.CONTROLLER));
            byte[] payload = DsseEnvelope.parse(proof.signed().toByteArray(), TicketStreamProof.MAX_BYTES)
                    .verify(TicketStreamProof.TYPE, Set.of(who.key()), 1);
            if (!TicketStreamProof.parse(payload).equals(TicketStreamProof.of(relay.toString(), nonce))) {
                throw new MalformedException("the proof answers another challenge");
            }
            return who;
        }

        /** Checks the claimed name before any signature is verified. */
        private void requireName(CertificateName claimed) throws MalformedException {
            if (!claimed.equals(from.orElseThrow())) {
                throw new MalformedException("expected a proof of " + from.get() + ", got one of " + claimed);
            }
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            end(ctx, cause.getCause() instanceof IOException inner ? inner : cause);
        }

        private void end(ChannelHandlerContext ctx, Throwable why) {
            LOG.warn(
                    "closing ticket stream peer={} from={} reason=\"{}\"",
                    link.name(),
                    from.map(CertificateName::toString).orElse("-"),
                    why.getMessage());
            ctx.close();
        }
    }

    /**
     * Returns whether the peer can repeat the message after a refusal. The relay knows the ticket of a controlling
     * VM's order only after the check, so such orders wait for their turn.
     */
    private static boolean isRepeatable(TicketPeer peer, AgentTicketMessage message) {
        return peer.identity().role() == CertificateRole.DEVICE
                || !ticket(message).isEmpty();
    }

    private static String ticket(AgentTicketMessage message) {
        if (message instanceof AgentTicketMessage.QueryTicket query) {
            return query.ticket();
        }
        return message instanceof AgentTicketMessage.Claim claim ? claim.ticket() : "";
    }

    /** Event that the stream has its response, so that data may be sent. */
    public enum ResponseSent {
        NOW
    }
}
