package org.cloister.daemon.http;

import com.codahale.metrics.MetricRegistry;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.charset.StandardCharsets;

/**
 * A daemon's response.
 *
 * @param type of the body, which is sent in UTF-8
 */
public record AdminResponse(HttpResponseStatus status, String type, String body) {
    private static final String TEXT = "text/plain; charset=utf-8";
    private static final String JSON = "application/json";

    /** Returns a response of one line for people. */
    public static AdminResponse text(HttpResponseStatus status, String line) {
        return new AdminResponse(status, TEXT, line + "\n");
    }

    public static AdminResponse json(String document) {
        return new AdminResponse(HttpResponseStatus.OK, JSON, document);
    }

    public static AdminResponse notFound() {
        return text(HttpResponseStatus.NOT_FOUND, "nothing here");
    }

    /** Returns all metrics of a registry, in Prometheus' text format. */
    public static AdminResponse metrics(MetricRegistry registry) {
        return new AdminResponse(HttpResponseStatus.OK, PrometheusText.TYPE, PrometheusText.of(registry));
    }

    FullHttpResponse response() {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        FullHttpResponse response =
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, Unpooled.wrappedBuffer(bytes));
        response.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, type)
                .set(HttpHeaderNames.CONTENT_LENGTH, bytes.length)
                .set(HttpHeaderNames.CONNECTION, "close");
        return response;
    }
}
