package org.cloister.ovs;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Detects drift: a settled bridge that differs from its plan without a requested change. */
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

    /** Records that work is necessary without a requested change. */
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

    /** Resets the detector for a new switch: it has no flows yet, which is not drift. */
    void restart() {
        settledOnce = false;
    }
}
