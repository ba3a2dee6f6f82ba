package org.cloister.relay;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.Request;
import org.cloister.protocol.link.Trust;
import org.cloister.protocol.link.Versions;

/** An attach stream on which a test says what it likes. */
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // what fails or is missing shows as a failed test
final class RawAgent {
    final Link link;
    final BlockingQueue<RelayMessage> heard = new LinkedBlockingQueue<>();
    private final Channel stream;

    RawAgent(Cast cast, Credential own) throws Exception {
        link = Cast.get(Link.dial(
                cast.loops,
                cast.relay.address(),
                own,
                Trust.inRelays(cast.beliefs).only(Cast.RELAY)));
        stream = Cast.get(link.open(
                new Request.Attach(Versions.OURS),
                each -> each.pipeline()
                        .addLast(
                                new Framing(LinkLimits.FROM_RELAY_BYTES, RelayMessage::read),
                                new ChannelInboundHandlerAdapter() {
                                    @Override
                                    public void channelRead(ChannelHandlerContext ctx, Object message) {
                                        heard.add((RelayMessage) message);
                                    }
                                })));
        say(new AgentMessage.Attach("a test"));
        hear(RelayMessage.Attached.class);
    }

    void say(AgentMessage message) {
        stream.writeAndFlush(Framing.frame(message.wire()));
    }

    /** The next message of a kind. */
    <T extends RelayMessage> T hear(Class<T> kind) throws InterruptedException {
        while (true) {
            RelayMessage message = Agent.require(heard.poll(20, TimeUnit.SECONDS), "no " + kind.getSimpleName());
            if (kind.isInstance(message)) {
                return kind.cast(message);
            }
        }
    }
}
