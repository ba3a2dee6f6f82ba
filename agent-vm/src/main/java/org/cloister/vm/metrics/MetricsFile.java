package org.cloister.vm.metrics;

import java.io.IOException;
import java.nio.file.Path;
import org.cloister.base.file.WorldReadableFile;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Metrics for node_exporter, which reads every {@code .prom} file of a folder: no port of ours is open for them. */
public final class MetricsFile {
    private static final Logger LOG = LoggerFactory.getLogger(MetricsFile.class);

    private final Path file;
    private boolean failing;

    public MetricsFile(Path file) {
        this.file = file;
    }

    /** Whole or not at all; what cannot be written is logged once and tried with the next. */
    public synchronized void write(VmMetrics metrics) {
        try {
            WorldReadableFile.replace(file, metrics.text());
            failing = false;
        } catch (IOException e) {
            if (!failing) {
                LOG.warn(
                        "metrics {}: not written: {}; make its folder, or take metrics out of the configuration",
                        file,
                        e.toString());
            }
            failing = true;
        }
    }
}
