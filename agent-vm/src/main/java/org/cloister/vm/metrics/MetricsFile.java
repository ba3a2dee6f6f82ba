package org.cloister.vm.metrics;

import java.io.IOException;
import java.nio.file.Path;
import org.cloister.base.file.WorldReadableFile;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes metrics to a file for node_exporter, which reads every {@code .prom} file of a folder, so that agent-vm needs
 * no open port.
 */
public final class MetricsFile {
    private static final Logger LOG = LoggerFactory.getLogger(MetricsFile.class);

    private final Path file;
    private boolean failed;

    public MetricsFile(Path file) {
        this.file = file;
    }

    /** Replaces the file as a whole. Logs a failure once, and tries again at the next call. */
    public synchronized void write(VmMetrics metrics) {
        try {
            WorldReadableFile.replace(file, metrics.text());
            failed = false;
        } catch (IOException e) {
            if (!failed) {
                LOG.warn(
                        "metrics file {}: cannot be written: {}; create its folder or remove metrics from the settings",
                        file,
                        e.toString());
            }
            failed = true;
        }
    }
}
