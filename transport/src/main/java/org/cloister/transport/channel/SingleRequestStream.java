package org.cloister.transport.channel;

import com.google.protobuf.MessageLite;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.link.StreamBytes;
import org.cloister.transport.link.StreamRequest;

/**
 * VM's end of a request to its host: a stream with one message in each direction, answered within {@code answer-time}.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failure on a stream is reported as its end
final class SingleRequestStream<T> extends ChannelInboundHandlerAdapter {
    private final String subject;
    private final ResponseReader<T> reading;
    private final Promise<T> answer;

    /** Interprets a host's answer; fails if it is a refusal. */
    interface ResponseReader<T> {
        T of(Object answer) throws IOException;
    }

    private SingleRequestStream(String subject, ResponseReader<T> reading, Promise<T> answer) {
        this.subject = subject;
        this.reading = reading;
        this.answer = answer;
    }

    /**
     * Sends a request and returns its answer.
     *
     * @param channel to the VM's host
     * @param subject for messages
     * @param framing of the answer
     */
    static <T> Future<T> ask(
            ClientLink channel,
            StreamRequest request,
            String subject,
            MessageLite question,
            MessageFraming framing,
            ResponseReader<T> reading) {
        Promise<T> answer = channel.loop().newPromise();
        ScheduledFuture<?> timer = channel.loop()
                .schedule(
                        () -> answer.tryFailure(new IOException(subject + ": want an answer of the host within "
                                + ProtocolLimits.ANSWER_TIME.toSeconds() + " s, have none")),
                        ProtocolLimits.ANSWER_TIME.toMillis(),
                        TimeUnit.MILLISECONDS);
        answer.addListener(done -> timer.cancel(false));
        channel.open(request, stream -> {
                    stream.pipeline().addLast(framing, new SingleRequestStream<>(subject, reading, answer));
                    stream.write(MessageFraming.frame(question));
                    stream.pipeline().get(StreamBytes.class).shutdownOutput();
                })
                .addListener((Future<Http2StreamChannel> opened) -> {
                    if (!opened.isSuccess()) {
                        answer.tryFailure(opened.cause());
                    }
                });
        return answer;
    }

    /** Starts the timer for the answer, which also ends the stream. */
    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        answer.addListener(done -> {
            if (!done.isSuccess()) {
                ctx.close();
            }
        });
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        try {
            answer.trySuccess(reading.of(message));
        } catch (IOException e) {
            answer.tryFailure(e);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event == ChannelInputShutdownEvent.INSTANCE) {
            ctx.close();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        answer.tryFailure(new IOException(subject + ": want an answer of the host, have the end of the stream"));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        answer.tryFailure(new IOException(subject + ": " + cause.getMessage(), cause));
        ctx.close();
    }
}
