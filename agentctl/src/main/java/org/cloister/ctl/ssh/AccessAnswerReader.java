package org.cloister.ctl.ssh;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.cloister.protocol.access.AccessResponse;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.link.MessageFraming;

/** Reads a controlling VM's first message, and passes the data after a grant to another handler. */
@SuppressWarnings("FutureReturnValueIgnored") // a failure shows as the channel's end
final class AccessAnswerReader implements Circuit.Application {
    private static final String FRAMING = "access";

    private final GrantListener listener;
    private final Circuit.Application behind;
    private final CompletableFuture<AccessResponse.Granted> granted = new CompletableFuture<>();

    /** Called with the grant, before any data of SSH passes. */
    @FunctionalInterface
    interface GrantListener {
        void onGranted(AccessResponse.Granted granted) throws IOException;
    }

    AccessAnswerReader(GrantListener listener, Circuit.Application behind) {
        this.listener = listener;
        this.behind = behind;
    }

    /**
     * Waits for the VM's grant.
     *
     * @throws IOException if the VM refuses; the text is for the person
     */
    AccessResponse.Granted awaitGrant() throws IOException, InterruptedException {
        try {
            return granted.get(ProtocolLimits.ACCESS_TIME.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException io) {
                throw io;
            }
            throw new IOException("controlling VM: " + e.getMessage(), e);
        } catch (TimeoutException e) {
            throw new IOException(
                    "controlling VM: no answer within " + ProtocolLimits.ACCESS_TIME.toSeconds() + " s", e);
        }
    }

    @Override
    public void install(ChannelPipeline pipeline, Circuit circuit) {
        pipeline.addLast(FRAMING, new MessageFraming(ProtocolLimits.ACCESS_BYTES, AccessResponse::read));
        pipeline.addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
                if (message instanceof AccessResponse.Refused refused) {
                    granted.completeExceptionally(
                            new IOException("controlling VM refuses (" + refused.word() + "): " + refused.text()));
                } else if (message instanceof AccessResponse.Granted answer) {
                    listener.onGranted(answer);
                    behind.install(ctx.pipeline(), circuit);
                    granted.complete(answer);
                    // From here on the next handler reads the data after the grant.
                    ctx.pipeline().remove(FRAMING);
                    ctx.pipeline().remove(this);
                }
            }

            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                if (event == ChannelInputShutdownEvent.INSTANCE) {
                    granted.completeExceptionally(
                            new IOException("controlling VM: it closed the circuit without an answer"));
                }
                ctx.fireUserEventTriggered(event);
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                granted.completeExceptionally(cause);
                ctx.close();
            }

            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                granted.completeExceptionally(
                        new IOException("circuit: it was closed before the controlling VM answered"));
                ctx.fireChannelInactive();
            }
        });
    }
}
