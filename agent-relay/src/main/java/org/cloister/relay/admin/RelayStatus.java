package org.cloister.relay.admin;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.ProjectApproval;
import org.cloister.relay.circuits.CircuitBroker;
import org.cloister.relay.circuits.CircuitMetrics;
import org.cloister.relay.links.LinkRegistry;
import org.cloister.relay.links.RelayLink;
import org.cloister.relay.links.RenewalForwarder;
import org.cloister.relay.slurm.GlobalPartitions;
import org.cloister.relay.slurm.GlobalSlurm;
import org.cloister.relay.state.DeliveredDocuments;

/** Renders the relay's status, its hosts and its projects as JSON for operators. */
public final class RelayStatus {
    private final CertificateName relay;
    private final Supplier<Optional<String>> notReady;
    private final LinkRegistry registry;
    private final RenewalForwarder renewals;
    private final CircuitBroker circuits;
    private final CircuitMetrics circuitMetrics;
    private final DeliveredDocuments documents;
    private final Optional<GlobalSlurm> slurm;

    /** @param notReady returns why the relay is not ready; empty if it is */
    public RelayStatus(
            CertificateName relay,
            Supplier<Optional<String>> notReady,
            LinkRegistry registry,
            RenewalForwarder renewals,
            CircuitBroker circuits,
            CircuitMetrics circuitMetrics,
            DeliveredDocuments documents,
            Optional<GlobalSlurm> slurm) {
        this.relay = relay;
        this.notReady = notReady;
        this.registry = registry;
        this.renewals = renewals;
        this.circuits = circuits;
        this.circuitMetrics = circuitMetrics;
        this.documents = documents;
        this.slurm = slurm;
    }

    Optional<String> notReadyReason() {
        return notReady.get();
    }

    ObjectNode status() {
        return JsonNodeFactory.instance
                .objectNode()
                .put("relay", relay.toString())
                .put("ready", notReady.get().isEmpty())
                .put("links", registry.links().size())
                .put("attached", registry.attached())
                .put("desk", renewals.hasAuthority())
                .put("circuits", circuits.openCircuits())
                .put("circuits_opened", circuitMetrics.opened.getCount())
                .put("circuits_refused", circuitMetrics.refused.getCount())
                .put("circuit_bytes", circuitMetrics.bytes.getCount())
                .put("projects", documents.projects())
                .put("revocation_lists", documents.trustStore().lists().all().size());
    }

    /** Returns the approved projects for {@code agentctl doctor}, which compares them with the site's accounting. */
    ObjectNode projects() {
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        slurm.ifPresent(global -> {
            GlobalPartitions partitions = global.partitions();
            document.put("user", global.user()).put("partition", partitions.workers());
            partitions.controllers().ifPresent(name -> document.put("controllers", name));
        });
        ArrayNode projects = document.putArray("projects");
        for (ProjectApproval approval : documents.approvals()) {
            projects.addObject()
                    .put("project", approval.project())
                    .put("account", approval.account())
                    .put("until", approval.validUntil().toString());
        }
        return document;
    }

    ObjectNode hosts() {
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        ArrayNode hosts = document.putArray("hosts");
        List<RelayLink> links = registry.links().stream()
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
