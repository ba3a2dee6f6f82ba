package org.cloister.protocol.link;

import com.google.protobuf.ByteString;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import org.cloister.protocol.Digest;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.identity.Name;
import org.jspecify.annotations.Nullable;

/** An agent's attach stream on one link; docs/protocol.md, section 8. */
@SuppressWarnings("FutureReturnValueIgnored") // what cannot be written shows as the stream's end
public final class Attachment {
    private final Link link;
    private final Channel stream;
    private final Owner owner;
    private volatile ByteString head = ByteString.EMPTY;

    /** Who keeps the link: hears of its life, in this order, on its event loop. */
    interface Owner {
        void attached(Attachment attachment, Pace pace);

        void served(Name name, Optional<CloseReason> refused);

        void dialled(Attachment attachment, RelayMessage.Dial dial);

        /** @return whether it is in force here */
        boolean revoked(byte[] signed) throws MalformedException;

        void renewed(RenewalOutcome outcome);

        void asked(Attachment attachment, RelayMessage.RenewalAsked renewal);

        void draining(Attachment attachment, Pace pace);

        /** @throws MalformedException if it is nobody's to say at the other side */
        void askedToLeave(Duration within) throws MalformedException;

        /** At most once, and nothing after it. */
        void ended(@Nullable Attachment attachment, String why);
    }

    private Attachment(Link link, Channel stream, Owner owner) {
        this.link = link;
        this.stream = stream;
        this.owner = owner;
    }

    static void open(Link link, String software, Owner owner) {
        link.open(new Request.Attach(Versions.OURS), stream -> {
                    Attachment attachment = new Attachment(link, stream, owner);
                    stream.pipeline()
                            .addLast(
                                    new Framing(LinkLimits.FROM_RELAY_BYTES, RelayMessage::read),
                                    attachment.new Reader());
                    attachment.say(new AgentMessage.Attach(software));
                })
                .addListener((Future<Http2StreamChannel> opened) -> {
                    if (!opened.isSuccess()) {
                        owner.ended(null, String.valueOf(opened.cause().getMessage()));
                    }
                });
    }

    public Link link() {
        return link;
    }

    /** The relay's newest audit head when it answered, an envelope to keep as a witness; empty if it has none. */
    public ByteString head() {
        return head;
    }

    public void serve(Name name) {
        say(new AgentMessage.Serve(name));
    }

    public void unserve(Name name) {
        say(new AgentMessage.Unserve(name));
    }

    public void refuse(RelayMessage.Dial dial, CloseReason reason) {
        say(new AgentMessage.DialRefused(dial.token(), reason));
    }

    /** @param request of {@link Renewal#ask} */
    public void renew(ByteString request) {
        say(new AgentMessage.Renew(request));
    }

    /** The site's desk answers. */
    public void answer(RelayMessage.RenewalAsked asked, RenewalOutcome outcome) {
        say(new AgentMessage.RenewalAnswered(asked.id(), outcome));
    }

    /** The site's desk delivers a signed revocation list; it comes back when the relay has taken it. */
    public void deliver(byte[] list) {
        say(new AgentMessage.DeliverRevocations(ByteString.copyFrom(list)));
    }

    private void say(AgentMessage message) {
        stream.writeAndFlush(Framing.frame(message.wire()));
    }

    private final class Reader extends ChannelInboundHandlerAdapter {
        private @Nullable Pace pace;
        private int listsToCome;
        private boolean over;

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) throws MalformedException {
            if (message instanceof RelayMessage.Attached hello && pace == null) {
                pace = hello.pace();
                listsToCome = hello.lists();
                head = hello.head();
                begin(hello.pace());
            } else if (pace == null || message instanceof RelayMessage.Attached) {
                throw new MalformedException("attach stream: want Attached once and first");
            } else if (message instanceof RelayMessage.Served served) {
                owner.served(served.name(), served.refused());
            } else if (message instanceof RelayMessage.Dial dial) {
                owner.dialled(Attachment.this, dial);
            } else if (message instanceof RelayMessage.Revocations list) {
                byte[] signed = list.signed().toByteArray();
                if (owner.revoked(signed)) {
                    say(new AgentMessage.RevocationsKept(Digest.sha256(signed)));
                }
                if (listsToCome > 0) {
                    listsToCome--;
                    begin(pace);
                }
            } else if (message instanceof RelayMessage.Renewed renewed) {
                owner.renewed(renewed.outcome());
            } else if (message instanceof RelayMessage.RenewalAsked asked) {
                owner.asked(Attachment.this, asked);
            } else if (message instanceof RelayMessage.Drain drain) {
                owner.draining(Attachment.this, drain.pace());
            } else if (message instanceof RelayMessage.Leave leave) {
                owner.askedToLeave(leave.within());
            }
        }

        /** What is served or opened before the lists are here could be the revoked's. */
        private void begin(Pace told) {
            if (listsToCome == 0) {
                owner.attached(Attachment.this, told);
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof Close close) {
                end(ctx, close.toString());
            } else if (event == ChannelInputShutdownEvent.INSTANCE) {
                end(ctx, "the relay ended the attach stream");
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            end(ctx, "the connection is lost");
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            Throwable why = cause.getCause() instanceof IOException ? cause.getCause() : cause;
            end(ctx, String.valueOf(why.getMessage()));
        }

        private void end(ChannelHandlerContext ctx, String why) {
            if (!over) {
                over = true;
                ctx.close();
                owner.ended(Attachment.this, why);
            }
        }
    }
}
