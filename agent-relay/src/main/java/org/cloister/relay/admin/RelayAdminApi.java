package org.cloister.relay.admin;

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
import org.cloister.daemon.http.AdminHttpServer;
import org.cloister.daemon.http.AdminResponse;
import org.cloister.protocol.identity.ProjectApproval;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.relay.links.RelayLink;
import org.cloister.relay.links.RelayMetrics;
import org.cloister.relay.links.RelayServer;
import org.cloister.relay.slurm.GlobalPartitions;

/**
 * Serves health, metrics and the attached agents to operators and Prometheus, and accepts deliveries from operators.
 */
public final class RelayAdminApi implements AdminHttpServer.RequestHandler {
    /** Time for which an ended ticket is still listed. */
    private static final Duration RECENT = Duration.ofHours(24);

    private final RelayServer relay;
    private final boolean operator;

    /**
     * Creates the request handler.
     *
     * @param operator whether the client uses the Unix socket and may change the relay's state
     */
    private RelayAdminApi(RelayServer relay, boolean operator) {
        this.relay = relay;
        this.operator = operator;
    }

    /** Starts the API for operators on a Unix socket. */
    public static AdminHttpServer listen(Path socket, RelayServer relay, EventLoopGroup loops) throws IOException {
        return AdminHttpServer.listen(
                socket, new RelayAdminApi(relay, true), ProtocolLimits.RELAY_MESSAGE_BYTES, loops);
    }

    /** Starts the read-only API for every user of this machine on a loopback address. */
    public static AdminHttpServer listen(InetSocketAddress loopback, RelayServer relay, EventLoopGroup loops)
            throws IOException {
        return AdminHttpServer.listen(loopback, new RelayAdminApi(relay, false), loops);
    }

    @Override
    public CompletableFuture<AdminResponse> answer(FullHttpRequest request) {
        return known(request)
                .exceptionally(
                        why -> AdminResponse.text(HttpResponseStatus.SERVICE_UNAVAILABLE, RelayServer.reason(why)));
    }

    private static CompletableFuture<AdminResponse> at(AdminResponse answer) {
        return CompletableFuture.completedFuture(answer);
    }

    private CompletableFuture<AdminResponse> known(FullHttpRequest request) {
        if (operator && request.method().equals(HttpMethod.POST)) {
            return switch (request.uri()) {
                case "/deliveries" -> at(deliver(ByteBufUtil.getBytes(request.content())));
                case "/drain" -> drain(true);
                case "/undrain" -> drain(false);
                default -> at(AdminResponse.notFound());
            };
        }
        if (operator && request.method().equals(HttpMethod.GET) && request.uri().equals("/tickets")) {
            Instant now = Instant.now();
            return relay.ticketLifecycle()
                    .status(now.minus(RECENT))
                    .thenApply(standing ->
                            AdminResponse.json(TicketListing.of(standing, now).toString()));
        }
        return at(plain(request));
    }

    private CompletableFuture<AdminResponse> drain(boolean on) {
        return relay.ticketLifecycle()
                .drain(on)
                .thenApply(draining -> AdminResponse.text(
                        HttpResponseStatus.OK, draining ? "takes no new tickets" : "takes new tickets"));
    }

    private AdminResponse plain(FullHttpRequest request) {
        if (!request.method().equals(HttpMethod.GET)) {
            return AdminResponse.text(HttpResponseStatus.METHOD_NOT_ALLOWED, "want GET");
        }
        return switch (request.uri()) {
            case "/healthz" -> AdminResponse.text(HttpResponseStatus.OK, "ok");
            case "/readyz" ->
                relay.isReady()
                        ? AdminResponse.text(HttpResponseStatus.OK, "ready")
                        : AdminResponse.text(HttpResponseStatus.SERVICE_UNAVAILABLE, "draining");
            case "/metrics" -> AdminResponse.metrics(relay.metrics().registry());
            case "/status" -> operator ? AdminResponse.json(status().toString()) : AdminResponse.notFound();
            case "/hosts" -> operator ? AdminResponse.json(hosts().toString()) : AdminResponse.notFound();
            case "/projects" -> operator ? AdminResponse.json(projects().toString()) : AdminResponse.notFound();
            default -> AdminResponse.notFound();
        };
    }

    /**
     * Stores a delivered document. When the answer is sent, the document is in force, and a revocation list has been
     * queued to every attached agent that it concerns.
     */
    private AdminResponse deliver(byte[] delivered) {
        try {
            return AdminResponse.text(HttpResponseStatus.OK, relay.deliver(delivered));
        } catch (IOException e) {
            return AdminResponse.text(HttpResponseStatus.UNPROCESSABLE_ENTITY, String.valueOf(e.getMessage()));
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
                .put("desk", relay.renewals().hasAuthority())
                .put("circuits", relay.circuitBroker().openCircuits())
                .put("circuits_opened", metrics.circuitsOpened.getCount())
                .put("circuits_refused", metrics.circuitsRefused.getCount())
                .put("circuit_bytes", metrics.circuitBytes.getCount())
                .put("projects", relay.documents().projects())
                .put(
                        "revocation_lists",
                        relay.documents().trustStore().lists().all().size());
    }

    /** Returns the approved projects for {@code agentctl doctor}, which compares them with the site's accounting. */
    private ObjectNode projects() {
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        relay.slurm().ifPresent(slurm -> {
            GlobalPartitions partitions = slurm.slurm().partitions();
            document.put("user", slurm.user()).put("partition", partitions.workers());
            partitions.controllers().ifPresent(name -> document.put("controllers", name));
        });
        ArrayNode projects = document.putArray("projects");
        for (ProjectApproval approval : relay.documents().approvals()) {
            projects.addObject()
                    .put("project", approval.project())
                    .put("account", approval.account())
                    .put("until", approval.validUntil().toString());
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
