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

/**
 * Reports signed statements to a relay, and deletes each when the relay has it on disk. Not thread-safe; the reconcile
 * loop calls it after each pass.
 */
public final class StatementReporter {
    /** Pause after a refusal: a relay whose database was lost does not know the ticket, while another one may. */
    private static final Duration PAUSE = Duration.ofMinutes(10);
    /** Maximum of reports that wait for an answer. */
    private static final int MAX_PENDING = 32;

    private static final Logger LOG = LoggerFactory.getLogger(StatementReporter.class);

    private final HostStatements statements;
    private final Relay relay;
    private final InstantSource clock;
    private final Map<String, CompletableFuture<Void>> pending = new HashMap<>();
    private final Map<String, Instant> refused = new HashMap<>();

    /** Relay that accepts statements, as {@code host.tickets.TicketClaims} does. */
    @FunctionalInterface
    public interface Relay {
        /**
         * Reports a statement.
         *
         * @return completes when the relay has stored it, however long that takes; exceptionally if the relay refuses
         *     it
         */
        CompletableFuture<Void> report(String ticket, int slot, byte[] statement);
    }

    public StatementReporter(HostStatements statements, Relay relay, InstantSource clock) {
        this.statements = statements;
        this.relay = relay;
        this.clock = clock;
    }

    public void poll() {
        Instant now = clock.instant();
        collectAnswers(now);
        refused.values().removeIf(at -> !now.isBefore(at.plus(PAUSE)));
        for (HostStatements.UnreportedStatement each : statements.unreported()) {
            if (pending.size() < MAX_PENDING && !pending.containsKey(each.vm()) && !refused.containsKey(each.vm())) {
                pending.put(each.vm(), relay.report(each.ticket(), each.slot(), each.statement()));
            }
        }
    }

    private void collectAnswers(Instant now) {
        Iterator<Map.Entry<String, CompletableFuture<Void>>> all =
                pending.entrySet().iterator();
        while (all.hasNext()) {
            Map.Entry<String, CompletableFuture<Void>> each = all.next();
            if (each.getValue().isDone()) {
                all.remove();
                onAnswer(each.getKey(), each.getValue(), now);
            }
        }
    }

    private void onAnswer(String vm, CompletableFuture<Void> answer, Instant now) {
        try {
            answer.join();
            statements.onReported(vm);
        } catch (CompletionException e) {
            LOG.warn("the relay did not accept the host statement of VM {}: {}", vm, String.valueOf(e.getCause()));
            refused.put(vm, now);
        } catch (IOException e) {
            LOG.warn("the reported host statement of VM {} cannot be deleted: {}", vm, e.toString());
            refused.put(vm, now);
        }
    }
}
