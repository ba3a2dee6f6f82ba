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

/** Renews the relay's own certificate at the desk that is attached to it. Links that are open keep theirs. */
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

    /** Without a desk there is nobody to ask, and nothing is lost by waiting for one. */
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
