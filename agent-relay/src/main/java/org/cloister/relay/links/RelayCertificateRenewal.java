package org.cloister.relay.links;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.link.RenewalResult;
import org.cloister.transport.link.RenewalClient;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the relay's own certificate through the attached registration authority of the site. Open links keep the
 * certificate with which they were opened.
 */
public final class RelayCertificateRenewal implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RelayCertificateRenewal.class);
    private static final Duration PERIOD = Duration.ofSeconds(1);

    private final RenewalClient renewal;
    private final RenewalForwarder forwarder;
    private final EventLoop loop;
    private final ScheduledFuture<?> checks;

    public RelayCertificateRenewal(RenewalClient renewal, RenewalForwarder forwarder, EventLoop loop) {
        this.renewal = renewal;
        this.forwarder = forwarder;
        this.loop = loop;
        this.checks = loop.scheduleWithFixedDelay(this::requestIfDue, 0, PERIOD.toMillis(), TimeUnit.MILLISECONDS);
    }

    /**
     * Requests a renewal when it is due. Without an attached registration authority it does nothing; waiting loses
     * nothing.
     */
    private void requestIfDue() {
        if (forwarder.hasAuthority()) {
            renewal.nextRequest(Instant.now())
                    .ifPresent(request -> forwarder.requestRenewal(renewal.name(), request, loop, this::onResult));
        }
    }

    private void onResult(RenewalResult result) {
        try {
            LOG.info("certificate renewed valid-until={}", renewal.acceptResult(result, Instant.now()));
        } catch (IOException e) {
            LOG.warn("certificate not renewed valid-until={} reason=\"{}\"", validUntil(), e.getMessage());
        }
    }

    private Instant validUntil() {
        return renewal.get().chain().get(0).getNotAfter().toInstant();
    }

    @Override
    public void close() {
        checks.cancel(false);
    }
}
