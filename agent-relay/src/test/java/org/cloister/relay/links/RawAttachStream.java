package org.cloister.relay.links;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.link.ProtocolVersions;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.link.StreamRequest;
import org.cloister.transport.tls.TlsCredential;

/** An attach stream on which a test says what it likes. */
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
public final class RawAttachStream {
    public final ClientLink link;
    final BlockingQueue<RelayMessage> received = new LinkedBlockingQueue<>();
    private final Channel stream;

    public RawAttachStream(RelayFixture fixture, TlsCredential own) throws Exception {
        link = RelayFixture.get(ClientLink.dial(
                fixture.loops,
                fixture.relay.address(),
                own,
                CertifiedPeerVerifier.forRelays(fixture.trustStore).only(RelayFixture.RELAY)));
        stream = RelayFixture.get(link.open(
                new StreamRequest.Attach(ProtocolVersions.OURS),
                each -> each.pipeline()
                        .addLast(
                                new MessageFraming(ProtocolLimits.RELAY_MESSAGE_BYTES, RelayMessage::read),
                                new ChannelInboundHandlerAdapter() {
                                    @Override
                                    public void channelRead(ChannelHandlerContext ctx, Object message) {
                                        received.add((RelayMessage) message);
                                    }
                                })));
        send(new AgentMessage.Attach("a test"));
        receive(RelayMessage.Attached.class);
    }

    public void send(AgentMessage message) {
        stream.writeAndFlush(MessageFraming.frame(message.wire()));
    }

    /** The next message of a kind. */
    public <T extends RelayMessage> T receive(Class<T> kind) throws InterruptedException {
        while (true) {
            RelayMessage message = TestAgent.require(received.poll(20, TimeUnit.SECONDS), "no " + kind.getSimpleName());
            if (kind.isInstance(message)) {
                return kind.cast(message);
            }
        }
    }
}
