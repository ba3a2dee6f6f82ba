package org.cloister.transport.link;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;
import org.cloister.base.encoding.MalformedException;

/** Any header fields from an agent, one a line, give a request that reads back as itself, or a typed error. */
class StreamRequestFuzz {
    @FuzzTest(maxDuration = "60s")
    void requests_end_in_a_value_or_a_typed_error(byte[] bytes) throws Exception {
        String[] fields = new String(bytes, StandardCharsets.ISO_8859_1).split("\n", -1);
        Http2Headers headers = new DefaultHttp2Headers(false).method("POST").path(fields[0]);
        String[] names = {StreamRequest.VERSION, StreamRequest.FROM, StreamRequest.POLICY, StreamRequest.CLOSE};
        for (int i = 1; i < fields.length; i++) {
            headers.add(names[(i - 1) % names.length], fields[i]);
        }
        StreamRequest.close(headers);
        try {
            StreamRequest request = StreamRequest.parse(headers);
            if (!StreamRequest.parse(request.headers()).equals(request)) {
                throw new IllegalStateException("reads back otherwise: " + request);
            }
        } catch (MalformedException e) {
            AgentMessageFuzz.requireText(e);
        }
    }
}
