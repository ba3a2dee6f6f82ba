package org.cloister.transport.link;

import io.netty.channel.Channel;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.OptionalInt;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.link.ProtocolVersions;

/** What the side that is dialled answers to a {@link StreamRequest}; docs/protocol.md, section 7. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a stream comes as its end
public final class StreamResponse {
    private StreamResponse() {}

    /** The version that both speak, if there is one. */
    public static OptionalInt version(StreamRequest request) {
        return ProtocolVersions.OURS.choose(request.versions());
    }

    /** On the stream's event loop, once what reads the stream is in place. */
    public static void accept(Channel stream, int version) {
        Http2Headers headers =
                new DefaultHttp2Headers().status("200").set(StreamRequest.VERSION, Integer.toString(version));
        stream.writeAndFlush(new DefaultHttp2HeadersFrame(headers, false));
    }

    /** A response that is an end, too; from any thread. */
    public static void refuse(Channel stream, CircuitClose close) {
        Http2Headers headers = new DefaultHttp2Headers()
                .status(Integer.toString(close.reason().status()))
                .set(StreamRequest.CLOSE, close.toString())
                .set(StreamRequest.VERSION, ProtocolVersions.OURS.toString());
        stream.eventLoop().execute(() -> {
            if (stream.isActive()) {
                stream.writeAndFlush(new DefaultHttp2HeadersFrame(headers, true))
                        .addListener(done -> stream.close());
            }
        });
    }
}
