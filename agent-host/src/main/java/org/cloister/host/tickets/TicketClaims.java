package org.cloister.host.tickets;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.HostFaultCode;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketRefusedException;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.TicketStreamClient;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stream of tickets on the host's current link to a relay. Unanswered requests are sent again on the next stream: the
 * relay repeats its answer however often it is asked. Any thread may call.
 */
public final class TicketClaims implements AutoCloseable {
    /** Longer than the relay's limit of 60 s, as a lost link takes time to return. */
    public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(90);

    private static final Logger LOG = LoggerFactory.getLogger(TicketClaims.class);

    private final ClaimResponseVerifier verifier;
    private final AuditHeadListener heads;
    private final Duration timeout;
    private final TicketStreamClient client = TicketStreamClient.ofHost();

    // Guarded by this object's monitor.
    private final Map<String, PendingClaim> claims = new LinkedHashMap<>();
    private final Map<SlotKey, PendingReport> reports = new LinkedHashMap<>();
    private TicketStreamClient.@Nullable Sender stream;
    private boolean closed;

    /**
     * Receives the relay's audit heads, which the host keeps as a witness. Runs on an event loop, which it must not
     * block.
     */
    @FunctionalInterface
    public interface AuditHeadListener {
        /**
         * Handles a head.
         *
         * @param head an envelope; empty if the relay has none
         */
        void onHead(byte[] head, CertifiedIdentity relay);
    }

    private record Answer(RelayTicketMessage.Claimed claimed, CertifiedIdentity relay) {}

    private record PendingClaim(long job, CompletableFuture<Answer> answer) {}

    private record SlotKey(String ticket, int slot) {}

    private record PendingReport(ByteString statement, CompletableFuture<Void> done) {}

    /** @param timeout time limit of a claim, across all links meanwhile */
    public TicketClaims(ClaimResponseVerifier verifier, AuditHeadListener heads, Duration timeout) {
        this.verifier = verifier;
        this.heads = heads;
        this.timeout = timeout;
    }

    /** Starts a stream on a new link; the previous link is not used any longer. */
    public void attached(ClientLink to) {
        synchronized (this) {
            stream = null;
        }
        to.peer().ifPresent(relay -> client.attach(to, new StreamListener(relay)));
    }

    public synchronized boolean isConnected() {
        return stream != null;
    }

    /**
     * Claims the ticket of a job step and returns the verified response. Waits for the relay, so an event loop must not
     * call it.
     *
     * @param ticket its id, the job's name in the Global Slurm
     * @param job from the caller's cgroup
     * @throws TicketRefusedException with the clause that denies: {@code unavailable} if no relay answers in time
     */
    public VerifiedClaim claim(String ticket, long job) throws IOException, InterruptedException {
        CompletableFuture<Answer> future = new CompletableFuture<>();
        submitClaim(ticket, new PendingClaim(job, future));
        try {
            Answer answer = future.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
            return verifier.verify(answer.claimed, answer.relay, ticket, job);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof TicketRefusedException refused ? refused : new IOException(e.getCause());
        } catch (TimeoutException e) {
            throw new TicketRefusedException(
                    TicketClause.UNAVAILABLE,
                    "ticket " + ticket,
                    "a relay's answer within " + timeout.toSeconds() + " s",
                    isConnected() ? "none" : "no relay",
                    "see agentctl host status, and agentctl relay status there");
        } finally {
            forget(ticket, future);
        }
    }

    private synchronized void submitClaim(String ticket, PendingClaim pending) throws TicketRefusedException {
        if (closed) {
            throw new TicketRefusedException(
                    TicketClause.UNAVAILABLE,
                    "ticket " + ticket,
                    "a running agent-host",
                    "one that is stopping",
                    "retry");
        }
        if (claims.putIfAbsent(ticket, pending) != null) {
            throw new TicketRefusedException(
                    TicketClause.USED,
                    "ticket " + ticket,
                    "one claim at a time",
                    "two",
                    "start one step for each node of the job, and only once");
        }
        send(new AgentTicketMessage.Claim(ticket, pending.job));
    }

    private synchronized void forget(String ticket, CompletableFuture<Answer> future) {
        PendingClaim pending = claims.get(ticket);
        if (pending != null && pending.answer == future) {
            claims.remove(ticket);
        }
    }

    /**
     * Reports the host statement for a receipt until the relay has it on disk.
     *
     * @param statement an envelope; the first one of a host and ticket is kept
     */
    public synchronized CompletableFuture<Void> report(String ticket, int slot, byte[] statement) {
        PendingReport added = new PendingReport(ByteString.copyFrom(statement), new CompletableFuture<>());
        PendingReport other = reports.putIfAbsent(new SlotKey(ticket, slot), added);
        if (other != null) {
            return other.done;
        }
        send(new AgentTicketMessage.Report(ticket, slot, added.statement));
        return added.done;
    }

    /**
     * Tells the project why a VM of a claimed ticket cannot run. It is only news, which is not repeated: without a
     * relay now, the project learns of it by the ticket's end.
     *
     * @param phase of the VM's start
     */
    public synchronized void reportFault(String ticket, HostFaultCode code, String phase) {
        send(new AgentTicketMessage.HostFault(ticket, code, phase));
    }

    private synchronized void send(AgentTicketMessage message) {
        if (stream != null) {
            stream.send(message);
        }
    }

    private synchronized void opened(TicketStreamClient.Sender on) {
        stream = on;
        claims.forEach((ticket, pending) -> on.send(new AgentTicketMessage.Claim(ticket, pending.job)));
        reports.forEach(
                (slot, report) -> on.send(new AgentTicketMessage.Report(slot.ticket, slot.slot, report.statement)));
    }

    private synchronized Optional<PendingClaim> claimOf(String ticket) {
        return Optional.ofNullable(claims.get(ticket));
    }

    /** Handles the events of streams to one relay, on their event loop. */
    private final class StreamListener implements TicketStreamClient.Listener {
        private final CertifiedIdentity relay;

        StreamListener(CertifiedIdentity relay) {
            this.relay = relay;
        }

        @Override
        public void onOpen(TicketStreamClient.Sender to) {
            opened(to);
        }

        @Override
        public void onMessage(RelayTicketMessage message) {
            if (message instanceof RelayTicketMessage.Welcome welcome) {
                heads.onHead(welcome.head().toByteArray(), relay);
            } else if (message instanceof RelayTicketMessage.Claimed claimed) {
                heads.onHead(claimed.head().toByteArray(), relay);
                claimed(claimed, relay);
            } else if (message instanceof RelayTicketMessage.StatementStored reported) {
                heads.onHead(reported.head().toByteArray(), relay);
                reported(new SlotKey(reported.ticket(), reported.slot()));
            } else if (message instanceof RelayTicketMessage.Refused refused) {
                refused(refused);
            }
        }

        @Override
        public void onClosed(String why) {
            LOG.info("ticket stream closed: {}", why);
            lost();
        }
    }

    private synchronized void lost() {
        stream = null;
    }

    /** Completes the claim that the response names without verification; its verification there rejects a mismatch. */
    private void claimed(RelayTicketMessage.Claimed claimed, CertifiedIdentity relay) {
        UnverifiedTicketIds.of(claimed.ticket().toByteArray())
                .flatMap(this::claimOf)
                .ifPresentOrElse(
                        pending -> pending.answer.complete(new Answer(claimed, relay)),
                        () -> LOG.info("ticket stream: dropped an answer that belongs to no open claim"));
    }

    private synchronized void reported(SlotKey slot) {
        PendingReport report = reports.remove(slot);
        if (report != null) {
            report.done.complete(null);
        }
    }

    private synchronized void refused(RelayTicketMessage.Refused refused) {
        IOException why = new TicketRefusedException(
                refused.clause(),
                "ticket " + refused.ticket(),
                "the relay's allocation",
                "its refusal",
                refused.text());
        PendingClaim pending = claims.get(refused.ticket());
        if (pending != null) {
            pending.answer.completeExceptionally(why);
            return;
        }
        if (refused.clause() == TicketClause.UNAVAILABLE) {
            // Sent again on the next stream.
            return;
        }
        reports.entrySet().removeIf(each -> {
            boolean matches = each.getKey().ticket.equals(refused.ticket());
            if (matches) {
                each.getValue().done.completeExceptionally(why);
            }
            return matches;
        });
    }

    @Override
    public synchronized void close() {
        closed = true;
        client.close();
        IOException why = new IOException("agent-host is stopping");
        claims.values().forEach(each -> each.answer.completeExceptionally(why));
        reports.values().forEach(each -> each.done.completeExceptionally(why));
    }
}
