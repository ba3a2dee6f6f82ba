package org.cloister.host;

import com.codahale.metrics.MetricRegistry;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.cloister.daemon.http.HttpAnswer;
import org.cloister.daemon.http.HttpListener;

/** What Prometheus and whoever watches the host may ask; it changes nothing and names no VM. */
public final class MetricsRequests implements HttpListener.Answering {
    private final MetricRegistry registry;
    private final Supplier<Optional<String>> unready;

    /** @param unready what the host waits for before it takes work; empty if it takes it */
    public MetricsRequests(MetricRegistry registry, Supplier<Optional<String>> unready) {
        this.registry = registry;
        this.unready = unready;
    }

    @Override
    public CompletionStage<HttpAnswer> answer(FullHttpRequest request) {
        return CompletableFuture.completedFuture(
                request.method().equals(HttpMethod.GET)
                        ? answer(request.uri())
                        : HttpAnswer.text(HttpResponseStatus.METHOD_NOT_ALLOWED, "want GET"));
    }

    private HttpAnswer answer(String path) {
        return switch (path) {
            case "/healthz" -> HttpAnswer.text(HttpResponseStatus.OK, "ok");
            case "/readyz" ->
                unready.get()
                        .map(why -> HttpAnswer.text(HttpResponseStatus.SERVICE_UNAVAILABLE, why))
                        .orElseGet(() -> HttpAnswer.text(HttpResponseStatus.OK, "ready"));
            case "/metrics" -> HttpAnswer.metrics(registry);
            default -> HttpAnswer.nothingHere();
        };
    }
}
