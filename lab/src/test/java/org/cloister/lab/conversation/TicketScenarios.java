package org.cloister.lab.conversation;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Collections;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.cloister.host.tickets.VerifiedClaim;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.relay.slurm.GlobalJobState;
import org.cloister.vm.controller.tickets.WorkerEvent;

/**
 * Scenarios of tickets between the ends of a {@link TicketConversation}; each event happens once, and all three ends
 * learn of it.
 */
@SuppressWarnings("NullAway") // what is missing shows as a failed test
record TicketScenarios(TicketConversation ends) {
    private static final ResourceRequest REQUEST =
            new ResourceRequest(1, OptionalInt.of(1), 1, OptionalInt.of(1), 64, 0, false, 10, List.of());
    private static final String PART = "application/vnd.in-toto+json";

    void await(Callable<Boolean> condition) throws Exception {
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!condition.call()) {
            assertThat(System.nanoTime() - endNs).as("time").isNegative();
            Thread.sleep(10);
        }
    }

    private <T extends WorkerEvent> List<T> events(String ticket, Class<T> kind) {
        return ends.events.stream()
                .filter(each -> each.ticket().equals(ticket))
                .filter(kind::isInstance)
                .map(kind::cast)
                .toList();
    }

    /** From the order to the host's part, whatever happens to the wire. */
    void live(String as) throws Exception {
        String ticket = Ticket.newId(new SecureRandom());
        ends.waiting = List.of(ticket);
        ends.workers.submitTicket(ticket, REQUEST);
        await(() -> !events(ticket, WorkerEvent.Allocated.class).isEmpty());
        long job = ends.relay.jobs(ticket).get(0).id();
        VerifiedClaim assigned = ends.claims.claim(ticket, job);
        assertThat(assigned.slot().key()).as(as).isEqualTo(ends.hostKey.verificationKey());
        byte[] part = DsseEnvelope.sign(PART, "{\"x\":1}".getBytes(StandardCharsets.UTF_8), ends.hostKey)
                .bytes();
        ends.claims.report(ticket, 0, part).get(60, TimeUnit.SECONDS);
        await(() -> ends.parts.containsKey(ticket));
        ends.relay.slurm().endJob(job, GlobalJobState.COMPLETED);
        await(() -> !events(ticket, WorkerEvent.Ended.class).isEmpty());

        assertThat(ends.relay.jobs(ticket)).as("%s: jobs", as).hasSize(1);
        assertThat(events(ticket, WorkerEvent.Refused.class)).as(as).isEmpty();
        assertThat(events(ticket, WorkerEvent.Ended.class)).as("%s: ends", as).hasSize(1);
        assertThat(events(ticket, WorkerEvent.Passed.class)).as("%s: nodes", as).hasSize(1);
        assertThat(ends.parts.get(ticket))
                .as("%s: parts", as)
                .allSatisfy(each -> assertThat(each.statement().toByteArray()).isEqualTo(part));
        List<String> audited = ends.relay.audited(ticket);
        for (String once :
                List.of("ticket.accepted", "ticket.queued", "slot.claimed", "slot.reported", "ticket.ended")) {
            assertThat(Collections.frequency(audited, once))
                    .as("%s: %s in %s", as, once, audited)
                    .isEqualTo(1);
        }
    }

    /** Taken back as soon as it has nodes. */
    void withdrawn(String as) throws Exception {
        String ticket = Ticket.newId(new SecureRandom());
        ends.workers.submitTicket(ticket, REQUEST);
        await(() -> !events(ticket, WorkerEvent.Allocated.class).isEmpty());
        ends.workers.withdrawTicket(ticket);
        await(() -> !events(ticket, WorkerEvent.Ended.class).isEmpty());
        assertThat(ends.relay.jobs(ticket))
                .as("%s: jobs", as)
                .singleElement()
                .satisfies(job -> assertThat(job.state()).isEqualTo(GlobalJobState.CANCELLED));
        assertThat(events(ticket, WorkerEvent.Ended.class)).as("%s: ends", as).hasSize(1);
        assertThat(Collections.frequency(ends.relay.audited(ticket), "ticket.ended"))
                .as(as)
                .isEqualTo(1);
    }
}
