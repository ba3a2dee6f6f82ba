package org.cloister.daemon.http;

import com.codahale.metrics.MetricRegistry;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.instrumentation.dropwizard.DropwizardExports;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Writes all metrics of a registry in Prometheus' text format. */
public final class PrometheusText {
    static final String TYPE = PrometheusTextFormatWriter.CONTENT_TYPE;

    private PrometheusText() {}

    public static String of(MetricRegistry registry) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            PrometheusTextFormatWriter.create().write(out, new DropwizardExports(registry).collect());
        } catch (IOException e) {
            throw new IllegalStateException("an array takes all", e);
        }
        return out.toString(StandardCharsets.UTF_8);
    }
}
