package org.cloister.relay.links;

import com.codahale.metrics.Counter;
import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import com.codahale.metrics.jvm.MemoryUsageGaugeSet;
import com.codahale.metrics.jvm.ThreadStatesGaugeSet;

/** Metrics of the relay. No name, address or project becomes part of a metric. */
public final class RelayMetrics {
    public static final String PREFIX = "cloister.relay.";

    private final MetricRegistry registry = new MetricRegistry();

    /** Connections accepted. */
    final Counter linksAccepted = counter("links.accepted");
    /** Connections closed at once because a limit was reached. */
    final Counter linksRefused = counter("links.refused");
    /** Connections without a request that were closed in favour of a connection from another address. */
    final Counter linksDisplaced = counter("links.displaced");
    /** Links of hosts whose certificate had expired, which may renew it and nothing else. */
    final Counter linksForRenewal = counter("links.renewal");
    /** TLS handshakes that failed or timed out. */
    final Counter handshakesFailed = counter("handshakes.failed");
    /** Links that violated a rule of HTTP/2 or of the protocol. */
    final Counter protocolErrors = counter("protocol.errors");
    /** Names refused to a host because another host serves them or because it serves too many. */
    final Counter claimsRefused = counter("claims.refused");
    /** Links of attached agents closed because the agent did not read. */
    final Counter slowAgentsClosed = counter("agents.let.go");
    /** Documents, approvals and revocation lists accepted. */
    final Counter deliveriesAccepted = counter("deliveries.taken");

    public RelayMetrics() {
        registry.registerAll("jvm.memory", new MemoryUsageGaugeSet());
        registry.registerAll("jvm.threads", new ThreadStatesGaugeSet());
    }

    public MetricRegistry registry() {
        return registry;
    }

    /**
     * Registers a gauge.
     *
     * @param name follows the common prefix
     */
    public <T extends Number> void gauge(String name, Gauge<T> gauge) {
        registry.register(PREFIX + name, gauge);
    }

    private Counter counter(String name) {
        return registry.counter(PREFIX + name);
    }
}
