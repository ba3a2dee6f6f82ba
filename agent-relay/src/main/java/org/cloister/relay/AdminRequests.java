package org.cloister.relay;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
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
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.cloister.daemon.http.HttpAnswer;
import org.cloister.daemon.http.HttpListener;
import org.cloister.protocol.identity.Approval;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.relay.slurm.Partitions;

/** What operators and Prometheus are told: health, metrics, who is attached; and deliveries. */
final class AdminRequests implements HttpListener.Answering {
    /** How long a ticket that ended is shown. */
    private static final Duration RECENT = Duration.ofHours(24);

    private final Relay relay;
    private final boolean operator;

    /** @param operator asks over the Unix socket and may change something */
    private AdminRequests(Relay relay, boolean operator) {
        this.relay = relay;
        this.operator = operator;
    }

    /** For operators. */
    static HttpListener on(Path socket, Relay relay, EventLoopGroup loops) throws IOException {
        return HttpListener.on(socket, new AdminRequests(relay, true), LinkLimits.FROM_RELAY_BYTES, loops);
    }

    /** For whoever is on this machine. */
    static HttpListener on(InetSocketAddress loopback, Relay relay, EventLoopGroup loops) throws IOException {
        return HttpListener.on(loopback, new AdminRequests(relay, false), loops);
    }

    @Override
    public CompletableFuture<HttpAnswer> answer(FullHttpRequest request) {
        return known(request)
                .exceptionally(why -> HttpAnswer.text(HttpResponseStatus.SERVICE_UNAVAILABLE, Relay.reason(why)));
    }

    private static CompletableFuture<HttpAnswer> at(HttpAnswer answer) {
        return CompletableFuture.completedFuture(answer);
    }

    private CompletableFuture<HttpAnswer> known(FullHttpRequest request) {
        if (operator && request.method().equals(HttpMethod.POST)) {
            return switch (request.uri()) {
                case "/deliveries" -> at(deliver(ByteBufUtil.getBytes(request.content())));
                case "/drain" -> drain(true);
                case "/undrain" -> drain(false);
                default -> at(HttpAnswer.nothingHere());
            };
        }
        if (operator && request.method().equals(HttpMethod.GET) && request.uri().equals("/tickets")) {
            Instant now = Instant.now();
            return relay.office()
                    .standing(now.minus(RECENT))
                    .thenApply(standing ->
                            HttpAnswer.json(TicketsDocument.of(standing, now).toString()));
        }
        return at(plain(request));
    }

    private CompletableFuture<HttpAnswer> drain(boolean on) {
        return relay.office()
                .drain(on)
                .thenApply(draining -> HttpAnswer.text(
                        HttpResponseStatus.OK, draining ? "takes no new tickets" : "takes new tickets"));
    }

    private HttpAnswer plain(FullHttpRequest request) {
        if (!request.method().equals(HttpMethod.GET)) {
            return HttpAnswer.text(HttpResponseStatus.METHOD_NOT_ALLOWED, "want GET");
        }
        return switch (request.uri()) {
            case "/healthz" -> HttpAnswer.text(HttpResponseStatus.OK, "ok");
            case "/readyz" ->
                relay.isReady()
                        ? HttpAnswer.text(HttpResponseStatus.OK, "ready")
                        : HttpAnswer.text(HttpResponseStatus.SERVICE_UNAVAILABLE, "draining");
            case "/metrics" -> HttpAnswer.metrics(relay.metrics().registry());
            case "/status" -> operator ? HttpAnswer.json(status().toString()) : HttpAnswer.nothingHere();
            case "/hosts" -> operator ? HttpAnswer.json(hosts().toString()) : HttpAnswer.nothingHere();
            case "/projects" -> operator ? HttpAnswer.json(projects().toString()) : HttpAnswer.nothingHere();
            default -> HttpAnswer.nothingHere();
        };
    }

    /** It is in force when this is answered, and a list on its way to every attached agent that it concerns. */
    private HttpAnswer deliver(byte[] delivered) {
        try {
            return HttpAnswer.text(HttpResponseStatus.OK, relay.deliver(delivered));
        } catch (IOException e) {
            return HttpAnswer.text(HttpResponseStatus.UNPROCESSABLE_ENTITY, String.valueOf(e.getMessage()));
        }
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
        relay.slurm().ifPresent(slurm -> {
            Partitions partitions = slurm.slurm().partitions();
            document.put("user", slurm.user()).put("partition", partitions.workers());
            partitions.controllers().ifPresent(name -> document.put("controllers", name));
        });
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
}
