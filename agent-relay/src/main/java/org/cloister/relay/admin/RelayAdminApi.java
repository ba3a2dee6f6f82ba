package org.cloister.relay.admin;

import com.codahale.metrics.MetricRegistry;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import org.cloister.daemon.http.AdminHttpServer;
import org.cloister.daemon.http.AdminResponse;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.relay.links.DocumentDelivery;
import org.cloister.relay.links.LinkAcceptor;
import org.cloister.relay.tickets.TicketLifecycle;

/**
 * Serves health, metrics and the attached agents to operators and Prometheus, and accepts deliveries from operators.
 */
public final class RelayAdminApi {
    /** Time for which an ended ticket is still listed. */
    private static final Duration RECENT = Duration.ofHours(24);

    private final RelayStatus status;
    private final TicketLifecycle tickets;
    private final DocumentDelivery delivery;
    private final MetricRegistry metrics;

    public RelayAdminApi(
            RelayStatus status, TicketLifecycle tickets, DocumentDelivery delivery, MetricRegistry metrics) {
        this.status = status;
        this.tickets = tickets;
        this.delivery = delivery;
        this.metrics = metrics;
    }

    /** Starts the API for operators on a Unix socket. */
    public AdminHttpServer listen(Path socket, EventLoopGroup loops) throws IOException {
        return AdminHttpServer.listen(
                socket, request -> answer(request, true), ProtocolLimits.RELAY_MESSAGE_BYTES, loops);
    }

    /** Starts the read-only API for every user of this machine on a loopback address. */
    public AdminHttpServer listen(InetSocketAddress loopback, EventLoopGroup loops) throws IOException {
        return AdminHttpServer.listen(loopback, request -> answer(request, false), loops);
    }

    /** @param operator whether the client uses the Unix socket and may change the relay's state */
    private CompletableFuture<AdminResponse> answer(FullHttpRequest request, boolean operator) {
        return dispatch(request, operator)
                .exceptionally(failure ->
                        AdminResponse.text(HttpResponseStatus.SERVICE_UNAVAILABLE, LinkAcceptor.reason(failure)));
    }

    private static CompletableFuture<AdminResponse> completed(AdminResponse answer) {
        return CompletableFuture.completedFuture(answer);
    }

    private CompletableFuture<AdminResponse> dispatch(FullHttpRequest request, boolean operator) {
        if (operator && request.method().equals(HttpMethod.POST)) {
            return switch (request.uri()) {
                case "/deliveries" -> completed(deliver(ByteBufUtil.getBytes(request.content())));
                case "/drain" -> drain(true);
                case "/undrain" -> drain(false);
                default -> completed(AdminResponse.notFound());
            };
        }
        if (operator && request.method().equals(HttpMethod.GET) && request.uri().equals("/tickets")) {
            Instant now = Instant.now();
            return tickets.status(now.minus(RECENT))
                    .thenApply(listed ->
                            AdminResponse.json(TicketListing.of(listed, now).toString()));
        }
        return completed(get(request, operator));
    }

    private CompletableFuture<AdminResponse> drain(boolean on) {
        return tickets.drain(on)
                .thenApply(draining -> AdminResponse.text(
                        HttpResponseStatus.OK, draining ? "accepts no new tickets" : "accepts new tickets"));
    }

    private AdminResponse get(FullHttpRequest request, boolean operator) {
        if (!request.method().equals(HttpMethod.GET)) {
            return AdminResponse.text(HttpResponseStatus.METHOD_NOT_ALLOWED, "this address answers GET only");
        }
        return switch (request.uri()) {
            case "/healthz" -> AdminResponse.text(HttpResponseStatus.OK, "ok");
            case "/readyz" ->
                status.notReadyReason()
                        .map(why -> AdminResponse.text(HttpResponseStatus.SERVICE_UNAVAILABLE, why))
                        .orElseGet(() -> AdminResponse.text(HttpResponseStatus.OK, "ready"));
            case "/metrics" -> AdminResponse.metrics(metrics);
            case "/status" -> operator ? AdminResponse.json(status.status().toString()) : AdminResponse.notFound();
            case "/hosts" -> operator ? AdminResponse.json(status.hosts().toString()) : AdminResponse.notFound();
            case "/projects" -> operator ? AdminResponse.json(status.projects().toString()) : AdminResponse.notFound();
            default -> AdminResponse.notFound();
        };
    }

    /**
     * Stores a delivered document. When the answer is sent, the document is in force, and a revocation list has been
     * queued to every attached agent that it concerns.
     */
    private AdminResponse deliver(byte[] delivered) {
        try {
            return AdminResponse.text(HttpResponseStatus.OK, delivery.deliver(delivered));
        } catch (IOException e) {
            return AdminResponse.text(HttpResponseStatus.UNPROCESSABLE_ENTITY, String.valueOf(e.getMessage()));
        }
    }
}
