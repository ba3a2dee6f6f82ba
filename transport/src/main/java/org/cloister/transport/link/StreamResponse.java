package org.cloister.transport.link;

import io.netty.channel.Channel;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2Headers;
import java.util.OptionalInt;
import org.cloister.protocol.circuit.CircuitClose;
import org.cloister.protocol.link.ProtocolVersions;

/** Answers a {@link StreamRequest} on the accepting side; docs/protocol.md, section 7. */
@SuppressWarnings("FutureReturnValueIgnored") // a failure on a stream is reported as its end
public final class StreamResponse {
    private StreamResponse() {}

    /** Returns the version that both sides speak; empty if there is none. */
    public static OptionalInt version(StreamRequest request) {
        return ProtocolVersions.OURS.choose(request.versions());
    }

    /** Accepts the stream, on its event loop, after its reader is installed. */
    public static void accept(Channel stream, int version) {
        Http2Headers headers =
                new DefaultHttp2Headers().status("200").set(StreamRequest.VERSION, Integer.toString(version));
        stream.writeAndFlush(new DefaultHttp2HeadersFrame(headers, false));
    }

    /** Refuses the stream with a response that also ends it. Thread-safe. */
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
