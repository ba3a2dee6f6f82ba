package org.cloister.host.metrics;

import com.codahale.metrics.MetricRegistry;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.cloister.daemon.http.AdminHttpServer;
import org.cloister.daemon.http.AdminResponse;

/** Serves health and metrics to Prometheus and other monitoring; it changes nothing and names no VM. */
public final class HostHttpEndpoint implements AdminHttpServer.RequestHandler {
    private final MetricRegistry registry;
    private final Supplier<Optional<String>> unready;

    /** @param unready supplies why the host accepts no work yet; empty if it does */
    public HostHttpEndpoint(MetricRegistry registry, Supplier<Optional<String>> unready) {
        this.registry = registry;
        this.unready = unready;
    }

    @Override
    public CompletionStage<AdminResponse> answer(FullHttpRequest request) {
        return CompletableFuture.completedFuture(
                request.method().equals(HttpMethod.GET)
                        ? answer(request.uri())
                        : AdminResponse.text(HttpResponseStatus.METHOD_NOT_ALLOWED, "want GET"));
    }

    private AdminResponse answer(String path) {
        return switch (path) {
            case "/healthz" -> AdminResponse.text(HttpResponseStatus.OK, "ok");
            case "/readyz" ->
                unready.get()
                        .map(why -> AdminResponse.text(HttpResponseStatus.SERVICE_UNAVAILABLE, why))
                        .orElseGet(() -> AdminResponse.text(HttpResponseStatus.OK, "ready"));
            case "/metrics" -> AdminResponse.metrics(registry);
            default -> AdminResponse.notFound();
        };
    }
}
