package org.cloister.relay.ticket;

import com.google.protobuf.ByteString;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.EventExecutorGroup;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.StreamBytes;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.StreamProof;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets a party in to the office: finds who a controlling VM is, whatever its host says, and hands its messages on in their
 * order. Signatures are checked on threads of its own, so that circuits do not wait for them.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a stream comes as its end
public final class TicketDoor {
    private static final Logger LOG = LoggerFactory.getLogger(TicketDoor.class);

    private final TicketOffice office;
    private final Beliefs beliefs;
    private final Name relay;
    private final EventExecutorGroup checks;
    private final SecureRandom random = new SecureRandom();

    public TicketDoor(TicketOffice office, Beliefs beliefs, Name relay, EventExecutorGroup checks) {
        this.office = office;
        this.beliefs = beliefs;
        this.relay = relay;
        this.checks = checks;
    }

    /**
     * Before the stream has its response.
     *
     * @param link whose connection it is
     * @param chain in which that one has shown itself
     * @param from whom a host says it brings
     */
    public void enter(Channel stream, Identity link, List<ByteString> chain, Optional<Name> from) {
        Gate gate = new Gate(stream);
        stream.pipeline()
                .addLast(
                        new StreamBytes(),
                        new Framing(LinkLimits.FROM_PARTY_BYTES, PartyMessage::read),
                        gate,
                        new Visit(gate, link, chain, from));
    }

    private final class Visit extends ChannelInboundHandlerAdapter {
        private final Gate gate;
        private final Identity link;
        private final List<ByteString> linkChain;
        private final Optional<Name> from;
        /** Of this stream alone while it lasts, so that its messages stay in order. */
        private final EventExecutor thread = checks.next();

        private final byte[] nonce = new byte[StreamProof.NONCE_BYTES];

        // On that thread alone.
        private List<ByteString> chain = List.of();
        private @Nullable Party party;

        Visit(Gate gate, Identity link, List<ByteString> linkChain, Optional<Name> from) {
            this.gate = gate;
            this.link = link;
            this.linkChain = linkChain;
            this.from = from;
            random.nextBytes(nonce);
        }

        /** Called by whoever has given the stream its response. */
        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event == ChannelInputShutdownEvent.INSTANCE) {
                ctx.close();
            } else if (event == Answered.NOW && from.isEmpty()) {
                thread.execute(() -> welcome(ctx, link));
            } else if (event == Answered.NOW) {
                ctx.writeAndFlush(Framing.frame(
                        new OfficeMessage.Challenge(ByteString.copyFrom(nonce), relay.toString()).wire()));
                thread.schedule(
                        () -> {
                            if (party == null) {
                                ctx.close();
                            }
                        },
                        LinkLimits.FIRST_REQUEST.toMillis(),
                        TimeUnit.MILLISECONDS);
            }
        }

        private void welcome(ChannelHandlerContext ctx, Identity who) {
            Party visitor = new Party(ctx.channel(), who, from.isEmpty() ? linkChain : chain, gate);
            party = visitor;
            office.enter(visitor, chain);
            ctx.channel().closeFuture().addListener(closed -> office.leave(visitor));
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            thread.execute(() -> {
                try {
                    hear(ctx, (PartyMessage) message);
                } catch (IOException | RuntimeException e) {
                    end(ctx, e);
                }
            });
        }

        private void hear(ChannelHandlerContext ctx, PartyMessage message) throws IOException {
            Party visitor = party;
            if (visitor == null) {
                if (!(message instanceof PartyMessage.Proof proof)) {
                    throw new MalformedException("want a proof first");
                }
                Identity who = prove(proof);
                chain = proof.chain();
                gate.answered();
                welcome(ctx, who);
            } else if (message instanceof PartyMessage.Proof) {
                throw new MalformedException("want one proof, have another one");
            } else {
                office.hear(visitor, chain, message);
            }
        }

        private Identity prove(PartyMessage.Proof proof) throws IOException {
            Chain shown = Chain.parse(
                    proof.chain().stream().map(ByteString::toByteArray).toList());
            Identity who = beliefs.verify(shown, Set.of(Role.CONTROLLER));
            if (!who.name().equals(from.orElseThrow())) {
                throw new MalformedException("want a proof of " + from.get() + ", have one of " + who.name());
            }
            byte[] payload = Envelope.parse(proof.signed().toByteArray(), StreamProof.MAX_BYTES)
                    .verify(StreamProof.TYPE, Set.of(who.key()), 1);
            if (!StreamProof.parse(payload).equals(StreamProof.of(relay.toString(), nonce))) {
                throw new MalformedException("want an answer to this challenge, have one to another");
            }
            return who;
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            end(ctx, cause.getCause() instanceof IOException inner ? inner : cause);
        }

        private void end(ChannelHandlerContext ctx, Throwable why) {
            LOG.warn(
                    "ticket stream ended peer={} from={} reason=\"{}\"",
                    link.name(),
                    from.map(Name::toString).orElse("-"),
                    why.getMessage());
            ctx.close();
        }
    }

    /** The stream has its response, so that there may be bytes. */
    public enum Answered {
        NOW
    }
}
