package org.cloister.relay;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.instrumentation.dropwizard.DropwizardExports;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.cloister.protocol.identity.Approval;

/** One answer a connection: health, metrics, who is attached, and deliveries. */
@SuppressWarnings("FutureReturnValueIgnored") // a client that has gone needs no answer
final class AdminRequests extends SimpleChannelInboundHandler<FullHttpRequest> {
    private static final String TEXT = "text/plain; charset=utf-8";
    private static final String JSON = "application/json";
    /** How long a ticket that ended is shown. */
    private static final Duration RECENT = Duration.ofHours(24);

    private final Relay relay;
    private final boolean operator;

    private record Answer(HttpResponseStatus status, String type, String body) {
        static Answer text(HttpResponseStatus status, String text) {
            return new Answer(status, TEXT, text + "\n");
        }

        static Answer json(ObjectNode document) {
            return new Answer(HttpResponseStatus.OK, JSON, document.toString());
        }
    }

    /** @param operator asks over the Unix socket and may change something */
    AdminRequests(Relay relay, boolean operator) {
        this.relay = relay;
        this.operator = operator;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, FullHttpRequest request) {
        CompletableFuture<Answer> answer = request.decoderResult().isSuccess()
                ? answer(request)
                : at(Answer.text(HttpResponseStatus.BAD_REQUEST, "not an HTTP request"));
        answer.exceptionally(why -> Answer.text(HttpResponseStatus.SERVICE_UNAVAILABLE, Relay.reason(why)))
                .thenAccept(each -> ctx.executor().execute(() -> write(ctx, each)));
    }

    private static void write(ChannelHandlerContext ctx, Answer answer) {
        ByteBuf body = Unpooled.copiedBuffer(answer.body, StandardCharsets.UTF_8);
        FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, answer.status, body);
        response.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, answer.type)
                .set(HttpHeaderNames.CONTENT_LENGTH, body.readableBytes())
                .set(HttpHeaderNames.CONNECTION, "close");
        ctx.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
    }

    private static CompletableFuture<Answer> at(Answer answer) {
        return CompletableFuture.completedFuture(answer);
    }

    private CompletableFuture<Answer> answer(FullHttpRequest request) {
        if (operator && request.method().equals(HttpMethod.POST)) {
            return switch (request.uri()) {
                case "/deliveries" -> at(deliver(ByteBufUtil.getBytes(request.content())));
                case "/drain" -> drain(true);
                case "/undrain" -> drain(false);
                default -> at(nothingHere());
            };
        }
        if (operator && request.method().equals(HttpMethod.GET) && request.uri().equals("/tickets")) {
            Instant now = Instant.now();
            return relay.office()
                    .standing(now.minus(RECENT))
                    .thenApply(standing -> Answer.json(TicketsDocument.of(standing, now)));
        }
        return at(plain(request));
    }

    private CompletableFuture<Answer> drain(boolean on) {
        return relay.office()
                .drain(on)
                .thenApply(draining ->
                        Answer.text(HttpResponseStatus.OK, draining ? "takes no new tickets" : "takes new tickets"));
    }

    private Answer plain(FullHttpRequest request) {
        if (!request.method().equals(HttpMethod.GET)) {
            return Answer.text(HttpResponseStatus.METHOD_NOT_ALLOWED, "want GET");
        }
        return switch (request.uri()) {
            case "/healthz" -> Answer.text(HttpResponseStatus.OK, "ok");
            case "/readyz" ->
                relay.isReady()
                        ? Answer.text(HttpResponseStatus.OK, "ready")
                        : Answer.text(HttpResponseStatus.SERVICE_UNAVAILABLE, "draining");
            case "/metrics" -> metrics();
            case "/status" -> operator ? Answer.json(status()) : nothingHere();
            case "/hosts" -> operator ? Answer.json(hosts()) : nothingHere();
            case "/projects" -> operator ? Answer.json(projects()) : nothingHere();
            default -> nothingHere();
        };
    }

    private static Answer nothingHere() {
        return Answer.text(HttpResponseStatus.NOT_FOUND, "nothing here");
    }

    /** It is in force when this is answered, and a list on its way to every attached agent that it concerns. */
    private Answer deliver(byte[] delivered) {
        try {
            return Answer.text(HttpResponseStatus.OK, relay.deliver(delivered));
        } catch (IOException e) {
            return Answer.text(HttpResponseStatus.UNPROCESSABLE_ENTITY, String.valueOf(e.getMessage()));
        }
    }

    private Answer metrics() {
        MetricSnapshots snapshots = new DropwizardExports(relay.metrics().registry()).collect();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            PrometheusTextFormatWriter.create().write(out, snapshots);
        } catch (IOException e) {
            throw new IllegalStateException("an array takes all", e);
        }
        return new Answer(
                HttpResponseStatus.OK, PrometheusTextFormatWriter.CONTENT_TYPE, out.toString(StandardCharsets.UTF_8));
    }

    private ObjectNode status() {
        RelayMetrics metrics = relay.metrics();
        return JsonNodeFactory.instance
                .objectNode()
                .put("relay", relay.name().toString())
                .put("ready", relay.isReady())
                .put("links", relay.registry().links().size())
                .put("attached", relay.registry().attached())
                .put("desk", relay.renewals().hasDesk())
                .put("circuits", relay.exchange().openCircuits())
                .put("circuits_opened", metrics.circuitsOpened.getCount())
                .put("circuits_refused", metrics.circuitsRefused.getCount())
                .put("circuit_bytes", metrics.circuitBytes.getCount())
                .put("projects", relay.deliveries().projects())
                .put(
                        "revocation_lists",
                        relay.deliveries().beliefs().lists().all().size());
    }

    /** For agentctl doctor, which holds the site's accounting against it. */
    private ObjectNode projects() {
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        relay.slurm().ifPresent(slurm -> document.put("user", slurm.user()).put("partition", slurm.partition()));
        ArrayNode projects = document.putArray("projects");
        for (Approval approval : relay.deliveries().approvals()) {
            projects.addObject()
                    .put("project", approval.project())
                    .put("account", approval.account())
                    .put("until", approval.until().toString());
        }
        return document;
    }

    private ObjectNode hosts() {
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        ArrayNode hosts = document.putArray("hosts");
        List<RelayLink> links = relay.registry().links().stream()
                .filter(RelayLink::isHost)
                .sorted(Comparator.comparing(link -> link.peer.toString()))
                .toList();
        for (RelayLink link : links) {
            ObjectNode host = hosts.addObject()
                    .put("name", link.peer.toString())
                    .put("attached", link.isAttached())
                    .put("seconds", Duration.between(link.since, Instant.now()).toSeconds())
                    .put("software", link.software())
                    .put("revocations_pending", link.revocationsPending());
            ArrayNode serves = host.putArray("serves");
            link.servedNames().forEach(name -> serves.add(name.toString()));
        }
        return document;
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        ctx.close();
    }
}
