package org.cloister.transport.link;

import com.google.protobuf.ByteString;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Optional;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.ProtocolVersions;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.TicketStreamProof;

/** Agent's end of a ticket stream; docs/protocol.md, section 13. Messages wait for the stream's flow control. */
@SuppressWarnings("FutureReturnValueIgnored") // a failed write is reported as the stream's end
public final class TicketStream {
    private final Channel stream;

    /**
     * Identity of a controlling VM, with the key that proves it. Prints without the key.
     *
     * @param chain in DER, the leaf first
     */
    public record ControllerSigner(CertificateName name, List<byte[]> chain, SigningKey key) {
        public ControllerSigner {
            chain = List.copyOf(chain);
        }

        @Override
        public String toString() {
            return "speaker " + name;
        }
    }

    /** Receives the stream's events on its event loop, which it must not block. */
    public interface Events {
        /** Called for each message; the first is a {@link RelayTicketMessage.Welcome}. */
        void onMessage(TicketStream stream, RelayTicketMessage message);

        /**
         * Called at most once, as the last event.
         *
         * @param why for the log
         */
        void onClosed(String why);
    }

    private TicketStream(Channel stream) {
        this.stream = stream;
    }

    /**
     * Opens a ticket stream.
     *
     * @param signer of a controlling VM; empty if the link itself identifies the requester
     */
    public static void open(ClientLink link, Optional<ControllerSigner> signer, Events events) {
        link.open(new StreamRequest.Tickets(ProtocolVersions.OURS, signer.map(ControllerSigner::name)), stream -> {
                    TicketStream own = new TicketStream(stream);
                    stream.pipeline()
                            .addLast(
                                    new MessageFraming(
                                            ProtocolLimits.RELAY_TICKET_MESSAGE_BYTES, RelayTicketMessage::read),
                                    own.new Reader(signer, events));
                })
                .addListener((Future<Http2StreamChannel> opened) -> {
                    if (!opened.isSuccess()) {
                        events.onClosed(String.valueOf(opened.cause().getMessage()));
                    }
                });
    }

    public void send(AgentTicketMessage message) {
        stream.writeAndFlush(MessageFraming.frame(message.wire()));
    }

    public void close() {
        stream.close();
    }

    private final class Reader extends StreamEndReader {
        private final Optional<ControllerSigner> signer;
        private final Events events;
        private boolean proved;

        Reader(Optional<ControllerSigner> signer, Events events) {
            super("stream");
            this.signer = signer;
            this.events = events;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) throws IOException {
            if (message instanceof RelayTicketMessage.Challenge challenge) {
                if (proved || signer.isEmpty()) {
                    throw new MalformedException("ticket stream: want one challenge, of a controlling VM alone");
                }
                proved = true;
                prove(signer.get(), challenge);
            } else if (message instanceof RelayTicketMessage relayMessage && proved == signer.isPresent()) {
                events.onMessage(TicketStream.this, relayMessage);
            } else {
                throw new MalformedException("ticket stream: want a challenge first");
            }
        }

        private void prove(ControllerSigner who, RelayTicketMessage.Challenge challenge) throws IOException {
            try {
                byte[] signed = TicketStreamProof.of(
                                challenge.relay(), challenge.nonce().toByteArray())
                        .sign(who.key)
                        .bytes();
                send(new AgentTicketMessage.Proof(
                        who.chain.stream().map(ByteString::copyFrom).toList(), ByteString.copyFrom(signed)));
            } catch (GeneralSecurityException e) {
                throw new IOException("ticket stream: the challenge cannot be signed: " + e.getMessage(), e);
            }
        }

        @Override
        void onEnd(String why) {
            events.onClosed(why);
        }
    }
}
