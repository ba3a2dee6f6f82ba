package org.cloister.relay.circuits;

import com.codahale.metrics.Counter;
import com.codahale.metrics.MetricRegistry;

/** Metrics of circuits; docs/metrics.md. */
public final class CircuitMetrics {
    /** Circuits spliced. */
    public final Counter opened;
    /** Circuits refused before they were spliced. */
    public final Counter refused;
    /** Circuits that the relay closed: idle, too old, revoked, draining. */
    final Counter ended;
    /** Bytes passed through circuits, both directions together. */
    public final Counter bytes;

    /** @param prefix prefix of the relay's own metrics, with a dot at its end */
    public CircuitMetrics(MetricRegistry registry, String prefix) {
        opened = registry.counter(prefix + "circuits.opened");
        refused = registry.counter(prefix + "circuits.refused");
        ended = registry.counter(prefix + "circuits.ended");
        bytes = registry.counter(prefix + "circuit.bytes");
    }
}
