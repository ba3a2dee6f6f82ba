package org.cloister.ovs;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Whether a bridge that was as it should be is so no longer, though nobody asked for a change. */
final class DriftDetector {
    private static final Logger LOG = LoggerFactory.getLogger(SecureBridge.class);

    private final String bridge;
    private final BridgeMetrics metrics;
    private boolean settledOnce;
    private boolean drifting;

    DriftDetector(String bridge, BridgeMetrics metrics) {
        this.bridge = bridge;
        this.metrics = metrics;
    }

    /** Something has to be done that nobody asked for. */
    void note(String what) {
        if (settledOnce && !drifting) {
            drifting = true;
            metrics.driftFound.inc();
            LOG.warn("bridge={} drift: {}", bridge, what);
        }
    }

    void settled() {
        settledOnce = true;
        if (drifting) {
            drifting = false;
            metrics.driftRepaired.inc();
        }
    }

    /** A new switch has nothing yet, which is no drift. */
    void restart() {
        settledOnce = false;
    }
}
