package org.cloister.transport.link;

import com.google.protobuf.ByteString;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.Optional;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.ProtocolVersions;
import org.cloister.protocol.link.ReconnectDelay;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.RenewalResult;
import org.jspecify.annotations.Nullable;

/** Agent's attach stream on one link; docs/protocol.md, section 8. */
@SuppressWarnings("FutureReturnValueIgnored") // a failed write is reported as the stream's end
public final class AgentAttachStream {
    private final ClientLink link;
    private final Channel stream;
    private final Listener owner;
    private volatile ByteString head = ByteString.EMPTY;

    /** Receives the events of the stream, in this order, on its event loop. */
    interface Listener {
        void onAttached(AgentAttachStream attachment, ReconnectDelay delay);

        void onServed(CertificateName name, Optional<CloseReason> refused);

        void onDial(AgentAttachStream attachment, RelayMessage.Dial dial);

        /**
         * A revocation list was received.
         *
         * @return whether the list is in force here
         */
        boolean onRevocationList(byte[] signed) throws MalformedException;

        void onRenewalResult(RenewalResult outcome);

        void onRenewalRequest(AgentAttachStream attachment, RelayMessage.RenewalRequested renewal);

        void onDrain(AgentAttachStream attachment, ReconnectDelay delay);

        /**
         * The other side requests a shutdown.
         *
         * @throws MalformedException if the other side is not permitted to request it
         */
        void onShutdownRequest(Duration within) throws MalformedException;

        /** Called at most once, as the last event. */
        void onClosed(@Nullable AgentAttachStream attachment, String why);
    }

    private AgentAttachStream(ClientLink link, Channel stream, Listener owner) {
        this.link = link;
        this.stream = stream;
        this.owner = owner;
    }

    static void open(ClientLink link, String software, Listener owner) {
        link.open(new StreamRequest.Attach(ProtocolVersions.OURS), stream -> {
                    AgentAttachStream attachment = new AgentAttachStream(link, stream, owner);
                    stream.pipeline()
                            .addLast(
                                    new MessageFraming(ProtocolLimits.RELAY_MESSAGE_BYTES, RelayMessage::read),
                                    attachment.new Reader());
                    attachment.send(new AgentMessage.Attach(software));
                })
                .addListener((Future<Http2StreamChannel> opened) -> {
                    if (!opened.isSuccess()) {
                        owner.onClosed(null, String.valueOf(opened.cause().getMessage()));
                    }
                });
    }

    public ClientLink link() {
        return link;
    }

    /**
     * Returns the relay's newest audit head at the time of its answer, an envelope to be stored as a witness; empty if
     * it has none.
     */
    public ByteString head() {
        return head;
    }

    public void serve(CertificateName name) {
        send(new AgentMessage.Serve(name));
    }

    public void unserve(CertificateName name) {
        send(new AgentMessage.Unserve(name));
    }

    public void refuse(RelayMessage.Dial dial, CloseReason reason) {
        send(new AgentMessage.DialRefused(dial.token(), reason));
    }

    /**
     * Requests the renewal of the own certificate, or a machine's first one.
     *
     * @param request of {@link RenewalClient#nextRequest}, or an enrolment request with a proof
     */
    public void renew(ByteString request) {
        send(new AgentMessage.Renew(request));
    }

    /** Answers a renewal request; for the registration authority only. */
    public void answer(RelayMessage.RenewalRequested renewal, RenewalResult outcome) {
        send(new AgentMessage.RenewalAnswered(renewal.id(), outcome));
    }

    /**
     * Delivers a signed revocation list; for the registration authority only. The relay sends the list back after
     * accepting it.
     */
    public void deliver(byte[] list) {
        send(new AgentMessage.DeliverRevocations(ByteString.copyFrom(list)));
    }

    private void send(AgentMessage message) {
        stream.writeAndFlush(MessageFraming.frame(message.wire()));
    }

    private final class Reader extends StreamEndReader {
        private @Nullable ReconnectDelay delay;
        private int listsToCome;

        Reader() {
            super("attach stream");
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) throws MalformedException {
            if (message instanceof RelayMessage.Attached hello && delay == null) {
                delay = hello.delay();
                listsToCome = hello.lists();
                head = hello.head();
                openAttachment(hello.delay());
            } else if (delay == null || message instanceof RelayMessage.Attached) {
                throw new MalformedException("attach stream: want Attached once and first");
            } else if (message instanceof RelayMessage.Served served) {
                owner.onServed(served.name(), served.refused());
            } else if (message instanceof RelayMessage.Dial dial) {
                owner.onDial(AgentAttachStream.this, dial);
            } else if (message instanceof RelayMessage.Revocations list) {
                byte[] signed = list.signed().toByteArray();
                if (owner.onRevocationList(signed)) {
                    send(new AgentMessage.RevocationsKept(Digest.sha256(signed)));
                }
                if (listsToCome > 0) {
                    listsToCome--;
                    openAttachment(delay);
                }
            } else if (message instanceof RelayMessage.Renewed renewed) {
                owner.onRenewalResult(renewed.outcome());
            } else if (message instanceof RelayMessage.RenewalRequested renewal) {
                owner.onRenewalRequest(AgentAttachStream.this, renewal);
            } else if (message instanceof RelayMessage.Drain drain) {
                owner.onDrain(AgentAttachStream.this, drain.delay());
            } else if (message instanceof RelayMessage.ShutdownRequest request) {
                owner.onShutdownRequest(request.within());
            }
        }

        /**
         * Reports the attachment after all announced lists were received: before that, a revoked peer could be served
         * or dialled.
         */
        private void openAttachment(ReconnectDelay delay) {
            if (listsToCome == 0) {
                owner.onAttached(AgentAttachStream.this, delay);
            }
        }

        @Override
        void onEnd(String why) {
            owner.onClosed(AgentAttachStream.this, why);
        }
    }
}
