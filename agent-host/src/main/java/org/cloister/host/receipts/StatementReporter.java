package org.cloister.host.receipts;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Brings what was signed to a relay, and forgets it when the relay has it on disk. Of one thread, which calls now and then. */
public final class StatementReporter {
    /** After a refusal: a relay whose database was lost knows nothing of the ticket, and another one may. */
    private static final Duration PAUSE = Duration.ofMinutes(10);
    /** Unanswered at a time. */
    private static final int MOST = 32;

    private static final Logger LOG = LoggerFactory.getLogger(StatementReporter.class);

    private final HostStatements parts;
    private final Relay relay;
    private final InstantSource clock;
    private final Map<String, CompletableFuture<Void>> asked = new HashMap<>();
    private final Map<String, Instant> refused = new HashMap<>();

    /** As {@code host.tickets.TicketClaims} does it. */
    @FunctionalInterface
    public interface Relay {
        /** @return done when it has it, however long that takes; with an exception if it does not take it */
        CompletableFuture<Void> report(String ticket, int slot, byte[] statement);
    }

    public StatementReporter(HostStatements parts, Relay relay, InstantSource clock) {
        this.parts = parts;
        this.relay = relay;
        this.clock = clock;
    }

    public void poll() {
        Instant now = clock.instant();
        hear(now);
        refused.values().removeIf(at -> !now.isBefore(at.plus(PAUSE)));
        for (HostStatements.UnreportedStatement each : parts.unreported()) {
            if (asked.size() < MOST && !asked.containsKey(each.vm()) && !refused.containsKey(each.vm())) {
                asked.put(each.vm(), relay.report(each.ticket(), each.slot(), each.statement()));
            }
        }
    }

    private void hear(Instant now) {
        Iterator<Map.Entry<String, CompletableFuture<Void>>> all =
                asked.entrySet().iterator();
        while (all.hasNext()) {
            Map.Entry<String, CompletableFuture<Void>> each = all.next();
            if (each.getValue().isDone()) {
                all.remove();
                answered(each.getKey(), each.getValue(), now);
            }
        }
    }

    private void answered(String vm, CompletableFuture<Void> answer, Instant now) {
        try {
            answer.join();
            parts.onReported(vm);
        } catch (CompletionException e) {
            LOG.warn("part of the receipt of VM {}: {}", vm, String.valueOf(e.getCause()));
            refused.put(vm, now);
        } catch (IOException e) {
            LOG.warn("part of the receipt of VM {}: reported, and not forgotten: {}", vm, e.toString());
            refused.put(vm, now);
        }
    }
}
