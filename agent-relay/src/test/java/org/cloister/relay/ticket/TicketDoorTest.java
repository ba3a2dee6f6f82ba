package org.cloister.relay.ticket;

import static org.assertj.core.api.Assertions.assertThat;

import com.codahale.metrics.MetricRegistry;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.LinkLimits;
import org.junit.jupiter.api.Test;

@SuppressWarnings({"FutureReturnValueIgnored", "NullAway"}) // nothing of the office is asked
class TicketDoorTest {
    @Test
    void a_proof_is_due_in_ten_seconds_also_while_all_checks_are_busy() throws Exception {
        Shares shares = new Shares(new OfficeMetrics(new MetricRegistry(), ""), 1);
        CountDownLatch busy = new CountDownLatch(1);
        shares.checks().submit("somebody", 1, () -> {
            try {
                busy.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        Beliefs beliefs = new Beliefs(Anchors.none(), RevocationLists.none(), InstantSource.system());
        TicketDoor door = new TicketDoor(null, beliefs, new Name("r1", "relay", Name.SITE), shares);
        Identity host = new Identity(new Name("n1", "host", Name.SITE), Role.HOST, null, null, null, null);
        EmbeddedChannel stream = new EmbeddedChannel();
        stream.freezeTime();
        door.enter(stream, host, List.of(), Optional.of(new Name("c", "controller", "p")));
        stream.pipeline().fireUserEventTriggered(TicketDoor.Answered.NOW);
        stream.advanceTimeBy(LinkLimits.FIRST_REQUEST.toSeconds(), TimeUnit.SECONDS);
        stream.runScheduledPendingTasks();
        assertThat(stream.isOpen()).as("after ten seconds without a proof").isFalse();
        busy.countDown();
        shares.close();
    }
}
