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
    private static final Duration LOOK = Duration.ofSeconds(1);

    private final RenewalClient renewal;
    private final RelayServer relay;
    private final EventLoop loop;
    private final ScheduledFuture<?> looks;

    public RelayCertificateRenewal(RenewalClient renewal, RelayServer relay, EventLoop loop) {
        this.renewal = renewal;
        this.relay = relay;
        this.loop = loop;
        this.looks = loop.scheduleWithFixedDelay(this::look, 0, LOOK.toMillis(), TimeUnit.MILLISECONDS);
    }

    /**
     * Requests a renewal when it is due. Without an attached registration authority it does nothing; waiting loses
     * nothing.
     */
    private void look() {
        if (relay.renewals().hasAuthority()) {
            renewal.nextRequest(Instant.now())
                    .ifPresent(
                            request -> relay.renewals().requestRenewal(renewal.name(), request, loop, this::answered));
        }
    }

    private void answered(RenewalResult outcome) {
        try {
            LOG.info("certificate renewed until={}", renewal.acceptResult(outcome, Instant.now()));
        } catch (IOException e) {
            LOG.warn("certificate not renewed until={} reason=\"{}\"", until(), e.getMessage());
        }
    }

    private Instant until() {
        return renewal.get().chain().get(0).getNotAfter().toInstant();
    }

    @Override
    public void close() {
        looks.cancel(false);
    }
}
