package org.cloister.host.ticket;

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
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketRefused;
import org.cloister.protocol.ticket.TicketStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The host's stream of tickets, over whichever link to a relay is attached. What was asked and not answered is asked again on
 * the next stream: the relay gives the same answer however often it is asked. Any thread may call.
 */
@SuppressWarnings("FutureReturnValueIgnored") // the loop's own timer
public final class Claims implements AutoCloseable {
    /** The relay answers within 60 s, and a lost link may take some to come back. */
    public static final Duration USUAL_PATIENCE = Duration.ofSeconds(90);

    private static final Logger LOG = LoggerFactory.getLogger(Claims.class);
    private static final int REOPEN_S = 2;

    private final ClaimReader reader;
    private final Heads heads;
    private final Duration patience;

    // Guarded by this object's monitor.
    private final Map<String, Asked> claims = new LinkedHashMap<>();
    private final Map<Place, Reporting> reports = new LinkedHashMap<>();
    private @Nullable Link link;
    private @Nullable TicketStream stream;
    private boolean closed;

    /** Hears of the relay's audit heads, to be kept as a witness. On an event loop, which it must not block. */
    @FunctionalInterface
    public interface Heads {
        /** @param head an envelope; empty if the relay has none */
        void head(byte[] head, Identity relay);
    }

    private record Answer(OfficeMessage.Claimed claimed, Identity relay) {}

    private record Asked(long job, CompletableFuture<Answer> answer) {}

    private record Place(String ticket, int slot) {}

    private record Reporting(ByteString statement, CompletableFuture<Void> done) {}

    /** @param patience of a claim, over all links that come and go meanwhile */
    public Claims(ClaimReader reader, Heads heads, Duration patience) {
        this.reader = reader;
        this.heads = heads;
        this.patience = patience;
    }

    /** There is a new link; the one before is not used any more. */
    public void attached(Link to) {
        synchronized (this) {
            link = to;
            stream = null;
        }
        open(to);
    }

    public synchronized boolean isThere() {
        return stream != null;
    }

    /**
     * What this host is to run for a job step. Waits for the relay; not for an event loop.
     *
     * @param ticket its id, as Global Slurm has it for the job's name
     * @param job from the caller's cgroup
     * @throws TicketRefused by the clause that denies: {@code unavailable} if no relay answers in time
     */
    public Assigned claim(String ticket, long job) throws IOException, InterruptedException {
        CompletableFuture<Answer> future = new CompletableFuture<>();
        ask(ticket, new Asked(job, future));
        try {
            Answer answer = future.get(patience.toMillis(), TimeUnit.MILLISECONDS);
            return reader.read(answer.claimed, answer.relay, ticket, job);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof TicketRefused refused ? refused : new IOException(e.getCause());
        } catch (TimeoutException e) {
            throw new TicketRefused(
                    TicketClause.UNAVAILABLE,
                    "ticket " + ticket,
                    "a relay's answer within " + patience.toSeconds() + " s",
                    isThere() ? "none" : "no relay",
                    "see agentctl host status, and agentctl relay status there");
        } finally {
            forget(ticket, future);
        }
    }

    private synchronized void ask(String ticket, Asked asked) throws TicketRefused {
        if (closed) {
            throw new TicketRefused(
                    TicketClause.UNAVAILABLE, "ticket " + ticket, "a host that goes on", "one that ends", "ask again");
        }
        if (claims.putIfAbsent(ticket, asked) != null) {
            throw new TicketRefused(
                    TicketClause.USED,
                    "ticket " + ticket,
                    "one claim at a time",
                    "two",
                    "one step of a job calls once");
        }
        say(new PartyMessage.Claim(ticket, asked.job));
    }

    private synchronized void forget(String ticket, CompletableFuture<Answer> future) {
        Asked asked = claims.get(ticket);
        if (asked != null && asked.answer == future) {
            claims.remove(ticket);
        }
    }

    /**
     * The host's part of a receipt, until the relay has it on disk.
     *
     * @param statement an envelope; the first of a host and ticket stays
     */
    public synchronized CompletableFuture<Void> report(String ticket, int slot, byte[] statement) {
        Reporting mine = new Reporting(ByteString.copyFrom(statement), new CompletableFuture<>());
        Reporting other = reports.putIfAbsent(new Place(ticket, slot), mine);
        if (other != null) {
            return other.done;
        }
        say(new PartyMessage.Report(ticket, slot, mine.statement));
        return mine.done;
    }

    private synchronized void say(PartyMessage message) {
        if (stream != null) {
            stream.say(message);
        }
    }

    private void open(Link on) {
        TicketStream.open(on, Optional.empty(), new Hearing(on));
    }

    private synchronized boolean isCurrent(Link of) {
        return !closed && link == of;
    }

    private synchronized void welcome(TicketStream on) {
        stream = on;
        claims.forEach((ticket, asked) -> on.say(new PartyMessage.Claim(ticket, asked.job)));
        reports.forEach((place, report) -> on.say(new PartyMessage.Report(place.ticket, place.slot, report.statement)));
    }

    private synchronized Optional<Asked> claimOf(String ticket) {
        return Optional.ofNullable(claims.get(ticket));
    }

    /** On the stream's event loop. */
    private final class Hearing implements TicketStream.Events {
        private final Link on;

        Hearing(Link on) {
            this.on = on;
        }

        @Override
        public void heard(TicketStream from, OfficeMessage message) {
            Optional<Identity> relay = on.peer();
            if (relay.isEmpty() || !isCurrent(on)) {
                return;
            }
            if (message instanceof OfficeMessage.Welcome welcome) {
                heads.head(welcome.head().toByteArray(), relay.get());
                welcome(from);
            } else if (message instanceof OfficeMessage.Claimed claimed) {
                heads.head(claimed.head().toByteArray(), relay.get());
                claimed(claimed, relay.get());
            } else if (message instanceof OfficeMessage.Reported reported) {
                heads.head(reported.head().toByteArray(), relay.get());
                reported(new Place(reported.ticket(), reported.slot()));
            } else if (message instanceof OfficeMessage.Refused refused) {
                refused(refused);
            }
        }

        @Override
        public void ended(String why) {
            if (isCurrent(on) && !on.loop().isShuttingDown()) {
                LOG.info("stream of tickets: {}", why);
                lost();
                on.loop().schedule(this::reopen, REOPEN_S, TimeUnit.SECONDS);
            }
        }

        /** A link that has ended is followed by another one. */
        private void reopen() {
            if (isCurrent(on) && on.channel().isActive() && !isThere()) {
                open(on);
            }
        }
    }

    private synchronized void lost() {
        stream = null;
    }

    /** What is not for the claim that it says it is for is refused there. */
    private void claimed(OfficeMessage.Claimed claimed, Identity relay) {
        TicketIds.of(claimed.ticket().toByteArray())
                .flatMap(this::claimOf)
                .ifPresentOrElse(
                        asked -> asked.answer.complete(new Answer(claimed, relay)),
                        () -> LOG.info("stream of tickets: an answer that nobody waits for"));
    }

    private synchronized void reported(Place place) {
        Reporting report = reports.remove(place);
        if (report != null) {
            report.done.complete(null);
        }
    }

    private synchronized void refused(OfficeMessage.Refused refused) {
        IOException why = new TicketRefused(
                refused.clause(),
                "ticket " + refused.ticket(),
                "the relay's allocation",
                "its refusal",
                refused.text());
        Asked asked = claims.get(refused.ticket());
        if (asked != null) {
            asked.answer.completeExceptionally(why);
            return;
        }
        if (refused.clause() == TicketClause.UNAVAILABLE) {
            // Said again on the next stream.
            return;
        }
        reports.entrySet().removeIf(each -> {
            boolean its = each.getKey().ticket.equals(refused.ticket());
            if (its) {
                each.getValue().done.completeExceptionally(why);
            }
            return its;
        });
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (stream != null) {
            stream.close();
        }
        IOException why = new IOException("agent-host: it ends");
        claims.values().forEach(each -> each.answer.completeExceptionally(why));
        reports.values().forEach(each -> each.done.completeExceptionally(why));
    }
}
