package org.cloister.relay.links;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.relay.circuits.CircuitBroker;
import org.cloister.relay.fairness.TokenBucket;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.link.StreamBytes;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Relay's end of an attach stream: docs/protocol.md, section 8. The link ends with it. */
@SuppressWarnings("FutureReturnValueIgnored") // a failure shows as the stream's end
final class RelayAttachStream extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(RelayAttachStream.class);

    private static final long BURST = 4L * ProtocolLimits.AGENT_MESSAGES_PER_SECOND;

    private final RelayLink link;
    private final RelayServer relay;
    private final TokenBucket words =
            new TokenBucket(ProtocolLimits.AGENT_MESSAGES_PER_SECOND, BURST, System.nanoTime());
    private @Nullable MessageFraming messages;
    private boolean attached;
    private boolean paused;

    private RelayAttachStream(RelayLink link, RelayServer relay) {
        this.link = link;
        this.relay = relay;
    }

    static void install(Channel stream, int version, RelayLink link, RelayServer relay) {
        RelayAttachStream own = new RelayAttachStream(link, relay);
        MessageFraming messages = new MessageFraming(
                link.isAuthority() ? ProtocolLimits.AUTHORITY_MESSAGE_BYTES : ProtocolLimits.AGENT_MESSAGE_BYTES,
                AgentMessage::read,
                () -> own.mayGoOn(stream));
        own.messages = messages;
        stream.pipeline().addLast(new StreamBytes(), messages, own);
        CircuitBroker.accept(stream, version);
    }

    /**
     * Returns whether to read on. Pauses an agent that sends more messages than its rate permits, until it may send
     * again.
     */
    private boolean mayGoOn(Channel stream) {
        long waitNs = words.waitNs(1, System.nanoTime());
        if (waitNs > 0 && !paused) {
            paused = true;
            stream.eventLoop().schedule(this::goOn, waitNs, TimeUnit.NANOSECONDS);
        }
        return !paused;
    }

    private void goOn() {
        paused = false;
        if (messages != null) {
            messages.resume();
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        ctx.executor()
                .schedule(
                        () -> {
                            if (!attached) {
                                end(ctx, CloseReason.PROTOCOL);
                            }
                        },
                        ProtocolLimits.FIRST_REQUEST.toMillis(),
                        TimeUnit.MILLISECONDS);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws MalformedException {
        words.charge(1, System.nanoTime());
        if (message instanceof AgentMessage.Attach attach && !attached) {
            attached = true;
            link.onAttached(ctx.channel(), attach.software());
            relay.onAttached(link);
            LOG.info("attached peer={} software=\"{}\"", link.peer, attach.software());
        } else if (!attached || message instanceof AgentMessage.Attach) {
            throw new MalformedException("attach stream: want Attach once and first");
        } else if (message instanceof AgentMessage.Serve serve) {
            boolean first = !link.concerns(serve.name().project());
            LinkRegistry.NameClaim claim = relay.registry()
                    .serve(link, serve.name(), relay.ticketLifecycle().hostOf(serve.name()));
            Optional<CloseReason> refused = claim.refused();
            claim.displaced().ifPresent(other -> {
                LOG.info("serve displaced peer={} name={} by={}", other.peer, serve.name(), link.peer);
                relay.send(other, new RelayMessage.Served(serve.name(), Optional.of(CloseReason.CLAIMED)));
            });
            refused.ifPresent(why -> {
                relay.metrics().claimsRefused.inc();
                LOG.warn("serve refused peer={} name={} reason={}", link.peer, serve.name(), why);
            });
            if (first && refused.isEmpty()) {
                relay.sendRevocations(link, serve.name().project());
            }
            relay.send(link, new RelayMessage.Served(serve.name(), refused));
        } else if (message instanceof AgentMessage.Unserve unserve) {
            relay.registry().unserve(link, unserve.name());
        } else if (message instanceof AgentMessage.DialRefused refused) {
            relay.circuitBroker().onDialRefused(link, refused.token());
        } else if (message instanceof AgentMessage.RevocationsKept kept) {
            link.onRevocationsStored(kept.list());
        } else if (message instanceof AgentMessage.Renew renew) {
            relay.renewals().requestRenewal(link, renew.request());
        } else if (message instanceof AgentMessage.RenewalAnswered answer) {
            requireDesk();
            relay.renewals().onResult(link, answer.id(), answer.outcome());
        } else if (message instanceof AgentMessage.DeliverRevocations delivery) {
            requireDesk();
            deliver(delivery.signed().toByteArray());
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == ChannelInputShutdownEvent.INSTANCE) {
            end(ctx, CloseReason.DONE);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        link.close();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        relay.metrics().protocolErrors.inc();
        LOG.warn("attach stream ended peer={} reason={}", link.peer, RelayServer.reason(cause));
        end(ctx, CloseReason.PROTOCOL);
    }

    private void requireDesk() throws MalformedException {
        if (!link.isAuthority()) {
            throw new MalformedException("attach stream: want messages of an agent, have one of the site's desk");
        }
    }

    /**
     * Stores a revocation list as if an operator had delivered it: the list's signature authenticates it. The site's
     * registration authority receives the list back once it is in force.
     */
    private void deliver(byte[] signed) {
        if (!link.delivery.tryStart(System.nanoTime())) {
            LOG.warn("revocations refused peer={} reason=\"too soon after the last\"", link.peer);
            return;
        }
        try {
            relay.deliver(signed);
        } catch (IOException e) {
            LOG.warn("revocations refused peer={} reason=\"{}\"", link.peer, e.getMessage());
        } finally {
            link.delivery.finish();
        }
    }

    private void end(ChannelHandlerContext ctx, CloseReason why) {
        ctx.pipeline()
                .get(StreamBytes.class)
                .shutdownOutput(CircuitClose.byRelay(why))
                .addListener(done -> link.close());
    }
}
