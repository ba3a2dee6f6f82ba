package org.cloister.relay.ticket;

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
 * order. Signatures are checked on threads that projects share by turns, so that circuits do not wait for them; what is due at a
 * time is the event loop's.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a stream comes as its end
public final class TicketDoor {
    private static final Logger LOG = LoggerFactory.getLogger(TicketDoor.class);

    private final TicketOffice office;
    private final Beliefs beliefs;
    private final Name relay;
    private final Shares shares;
    private final SecureRandom random = new SecureRandom();

    public TicketDoor(TicketOffice office, Beliefs beliefs, Name relay, Shares shares) {
        this.office = office;
        this.beliefs = beliefs;
        this.relay = relay;
        this.shares = shares;
    }

    /**
     * Before the stream has its response.
     *
     * @param link whose connection it is
     * @param chain in which that one has shown itself
     * @param from whom a host says it brings
     * @return false if the party, or its project or host, has as many streams as it may have
     */
    public boolean enter(Channel stream, Identity link, List<ByteString> chain, Optional<Name> from) {
        String party = link.name() + from.map(name -> " " + name).orElse("");
        if (!shares.enter(party, stream.closeFuture())
                || (from.isEmpty() && !shares.pay(Party.payer(link.name()), stream.closeFuture()))) {
            return false;
        }
        Gate gate = new Gate(stream);
        stream.pipeline().addLast(new StreamBytes(), gate.messages(), new Visit(gate, link, chain, from));
        return true;
    }

    private final class Visit extends ChannelInboundHandlerAdapter {
        private final Gate gate;
        private final Identity link;
        private final List<ByteString> linkChain;
        private final Optional<Name> from;
        private final byte[] nonce = new byte[StreamProof.NONCE_BYTES];

        /** On the event loop: a proof that is being checked is in time. */
        private boolean shown;
        // Of whichever thread has the stream's one message.
        private volatile List<ByteString> chain = List.of();
        private volatile @Nullable Party party;

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
                welcome(ctx, link);
            } else if (event == Answered.NOW) {
                ctx.writeAndFlush(Framing.frame(
                        new OfficeMessage.Challenge(ByteString.copyFrom(nonce), relay.toString()).wire()));
                ctx.executor()
                        .schedule(
                                () -> {
                                    if (!shown) {
                                        ctx.close();
                                    }
                                },
                                LinkLimits.FIRST_REQUEST.toMillis(),
                                TimeUnit.MILLISECONDS);
            }
        }

        private void welcome(ChannelHandlerContext ctx, Identity who) {
            Party visitor = new Party(ctx.channel(), who, from.isEmpty() ? linkChain : chain, gate, shares);
            party = visitor;
            office.enter(visitor, chain);
            ctx.channel().closeFuture().addListener(closed -> office.leave(visitor));
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object read) {
            gate.entered();
            shares.metrics().messages.inc();
            shown = true;
            PartyMessage message = (PartyMessage) read;
            Party visitor = party;
            String payer = visitor == null ? Party.payer(link.name()) : visitor.payer();
            long price = Price.of(message, visitor == null ? List.of() : visitor.seen());
            long sinceNs = System.nanoTime();
            if (!shares.checks().submit(payer, price, () -> check(ctx, message, payer, sinceNs))) {
                end(ctx, new MalformedException("want a relay that has room for checks, have a full one"));
            }
        }

        /** On a thread of the checks. */
        private void check(ChannelHandlerContext ctx, PartyMessage message, String payer, long sinceNs) {
            boolean late = System.nanoTime() - sinceNs > LinkLimits.WORK_TIME.toNanos();
            Party visitor = party;
            try {
                if (visitor == null) {
                    enter(ctx, message);
                    shares.checks().finished(payer);
                    gate.skipped();
                } else if (message instanceof PartyMessage.Proof) {
                    throw new MalformedException("want one proof, have another one");
                } else if (late && mayBeAskedAgain(visitor, message)) {
                    shares.metrics().messagesRefused.inc();
                    visitor.answer(Refusals.tooMuch(ticket(message), payer));
                } else {
                    office.hear(visitor, chain, message);
                }
            } catch (IOException | RuntimeException e) {
                shares.checks().charge(payer, Price.REFUSED);
                shares.checks().finished(payer);
                ctx.executor().execute(() -> end(ctx, e));
            } finally {
                gate.checked();
            }
        }

        private void enter(ChannelHandlerContext ctx, PartyMessage message) throws IOException {
            if (!(message instanceof PartyMessage.Proof proof)) {
                throw new MalformedException("want a proof first");
            }
            Identity who = prove(proof);
            if (!shares.pay(Party.payer(who.name()), ctx.channel().closeFuture())) {
                throw new MalformedException("want at most " + LinkLimits.PROJECT_STREAMS
                        + " streams of tickets of a project, have one more");
            }
            chain = proof.chain();
            welcome(ctx, who);
        }

        private Identity prove(PartyMessage.Proof proof) throws IOException {
            Chain shown = Chain.parse(
                    proof.chain().stream().map(ByteString::toByteArray).toList());
            requireName(shown.claimed());
            Identity who = beliefs.verify(shown, Set.of(Role.CONTROLLER));
            byte[] payload = Envelope.parse(proof.signed().toByteArray(), StreamProof.MAX_BYTES)
                    .verify(StreamProof.TYPE, Set.of(who.key()), 1);
            if (!StreamProof.parse(payload).equals(StreamProof.of(relay.toString(), nonce))) {
                throw new MalformedException("want an answer to this challenge, have one to another");
            }
            return who;
        }

        /** Before any key is tried. */
        private void requireName(Name claimed) throws MalformedException {
            if (!claimed.equals(from.orElseThrow())) {
                throw new MalformedException("want a proof of " + from.get() + ", have one of " + claimed);
            }
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

    /** Of a controlling VM's orders the relay does not know the ticket before it has checked them: those wait for their turn. */
    private static boolean mayBeAskedAgain(Party party, PartyMessage message) {
        return party.identity().role() == Role.DEVICE || !ticket(message).isEmpty();
    }

    private static String ticket(PartyMessage message) {
        if (message instanceof PartyMessage.Ask ask) {
            return ask.ticket();
        }
        return message instanceof PartyMessage.Claim claim ? claim.ticket() : "";
    }

    /** The stream has its response, so that there may be bytes. */
    public enum Answered {
        NOW
    }
}
