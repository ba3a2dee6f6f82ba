package org.cloister.relay.tickets;

import static org.assertj.core.api.Assertions.assertThat;

import com.codahale.metrics.MetricRegistry;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.ProtocolLimits;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("boundary")
@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // nothing of the office is asked
class TicketStreamAcceptorTest {
    @Test
    void a_proof_is_due_in_ten_seconds_also_while_all_checks_are_busy() throws Exception {
        TicketStreamLimits shares = new TicketStreamLimits(new TicketMetrics(new MetricRegistry(), ""), 1);
        CountDownLatch busy = new CountDownLatch(1);
        shares.checks().submit("somebody", 1, () -> {
            try {
                busy.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        TrustStore trustStore = new TrustStore(TrustAnchors.none(), RevocationLists.none(), InstantSource.system());
        TicketStreamAcceptor door = new TicketStreamAcceptor(
                null, trustStore, new CertificateName("r1", "relay", CertificateName.SITE), shares);
        CertifiedIdentity host = new CertifiedIdentity(
                new CertificateName("n1", "host", CertificateName.SITE), CertificateRole.HOST, null, null, null, null);
        EmbeddedChannel stream = new EmbeddedChannel();
        stream.freezeTime();
        door.accept(stream, host, List.of(), Optional.of(new CertificateName("c", "controller", "p")));
        stream.pipeline().fireUserEventTriggered(TicketStreamAcceptor.ResponseSent.NOW);
        stream.advanceTimeBy(ProtocolLimits.FIRST_REQUEST.toSeconds(), TimeUnit.SECONDS);
        stream.runScheduledPendingTasks();
        assertThat(stream.isOpen()).as("after ten seconds without a proof").isFalse();
        busy.countDown();
        shares.close();
    }
}
