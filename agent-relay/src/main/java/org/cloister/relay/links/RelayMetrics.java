package org.cloister.relay.links;

import com.codahale.metrics.Counter;
import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import com.codahale.metrics.jvm.MemoryUsageGaugeSet;
import com.codahale.metrics.jvm.ThreadStatesGaugeSet;

/** All that the relay counts. No name, address or project becomes part of a metric. */
public final class RelayMetrics {
    static final String PREFIX = "cloister.relay.";

    private final MetricRegistry registry = new MetricRegistry();

    /** Connections taken. */
    final Counter linksAccepted = counter("links.accepted");
    /** Connections closed at once because a limit was reached. */
    final Counter linksRefused = counter("links.refused");
    /** Connections that had made no request and were closed to let one of another address in. */
    final Counter linksDisplaced = counter("links.displaced");
    /** TLS handshakes that failed, or took too long. */
    final Counter handshakesFailed = counter("handshakes.failed");
    /** Links that broke a rule of HTTP/2 or of the protocol. */
    final Counter protocolErrors = counter("protocol.errors");
    /** Names refused to a host because another one serves them, or it serves too many. */
    public final Counter claimsRefused = counter("claims.refused");
    /** Circuits spliced. */
    public final Counter circuitsOpened = counter("circuits.opened");
    /** Circuits refused before they were spliced. */
    public final Counter circuitsRefused = counter("circuits.refused");
    /** Circuits that the relay ended: idle, too old, revoked, draining. */
    public final Counter circuitsEnded = counter("circuits.ended");
    /** Bytes passed through circuits, both ways together. */
    public final Counter circuitBytes = counter("circuit.bytes");
    /** Attached agents let go because they did not read. */
    final Counter agentsLetGo = counter("agents.let.go");
    /** Documents, approvals and revocation lists taken. */
    final Counter deliveriesTaken = counter("deliveries.taken");

    public RelayMetrics() {
        registry.registerAll("jvm.memory", new MemoryUsageGaugeSet());
        registry.registerAll("jvm.threads", new ThreadStatesGaugeSet());
    }

    public MetricRegistry registry() {
        return registry;
    }

    /** @param name behind the common prefix */
    <T extends Number> void gauge(String name, Gauge<T> gauge) {
        registry.register(PREFIX + name, gauge);
    }

    private Counter counter(String name) {
        return registry.counter(PREFIX + name);
    }
}
