package org.cloister.relay.ticket;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.audit.log.AuditLog;
import org.cloister.protocol.identity.Approval;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.OpenIdentities;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.relay.slurm.GlobalSlurm;
import org.cloister.relay.state.Numbers;
import org.cloister.relay.state.State;
import org.cloister.relay.state.StateException;
import org.cloister.relay.state.TicketRow;
import org.cloister.relay.state.Tickets;
import org.cloister.relay.state.Transaction;
import org.cloister.relay.state.Usage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Where tickets and openings are taken, followed and ended. From any thread. */
public final class TicketOffice implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(TicketOffice.class);
    private static final int RECENT = 1000;
    private static final int FORGOTTEN = 500;
    private static final long KEEP_EVERY_NS = Duration.ofSeconds(60).toNanos();
    private static final long CLAIM_NS = Duration.ofSeconds(60).toNanos();

    private final Office office;
    private final Optional<SlurmCalls> slurm;
    private final Following following;
    private final Orders orders;
    private final Claims claims;
    private final Openings openings;
    private final Signers signers;
    /** Streams of controlling VMs, whose certificates are not those of their links. */
    private final OpenIdentities<Party> proved = new OpenIdentities<>();
    /** Since when projects have had nothing to hold their VLANs for; on the records' thread. */
    private final Map<String, Long> idle = new HashMap<>();

    /** A look waits for the records' thread. */
    private final AtomicBoolean looking = new AtomicBoolean();

    private long keptNs = System.nanoTime();

    /**
     * Takes up what an earlier process of the relay left.
     *
     * @param slurm empty for a relay that takes no tickets
     */
    public TicketOffice(
            OfficeTerms terms,
            Surroundings around,
            State state,
            AuditLog log,
            Optional<GlobalSlurm> slurm,
            InstantSource clock,
            OfficeMetrics metrics)
            throws IOException {
        Commits commits = new Commits(state, log);
        this.office = new Office(terms, around, commits, log, clock, metrics);
        this.slurm = slurm.map(
                each -> new SlurmCalls(each, terms.times().look(), () -> Set.copyOf(office.tracked.keySet())));
        this.following = new Following(office, this.slurm);
        this.orders = new Orders(office, following);
        this.claims = new Claims(office, following);
        this.openings = new Openings(office);
        this.signers = new Signers(around);
        List<TicketRow> open = state.transact(transaction -> {
            Instant now = office.now();
            for (Tickets.Taken each : transaction.tickets().acceptedSince(AuditBudget.midnight(now))) {
                office.budget.charge(each.project(), AuditBudget.cost(each.tickets(), each.nodes()), now);
            }
            for (TicketRow row : transaction.tickets().open()) {
                following.resume(row, signers.of(transaction, row));
                office.whereabouts.resume(transaction, row);
                if (row.isOpening()
                        && row.request().sequence().epoch()
                                < transaction
                                        .tickets()
                                        .highestOpening(row.request().project())) {
                    following.supersede(row);
                }
            }
            return transaction.tickets().open();
        });
        LOG.info("tickets open={} slurm={}", open.size(), slurm.isPresent() ? "yes" : "none");
        commits.start();
        this.slurm.ifPresent(calls -> calls.watch(following::looked));
    }

    /** @param chain that a controlling VM showed; empty for others */
    void enter(Party party, List<ByteString> chain) {
        boolean controller = party.identity().role() == Role.CONTROLLER;
        if (controller) {
            // Others' links end by themselves.
            proved.opened(party, party.identity());
            orders.renew(party.identity(), chain);
        }
        office.listeners.enter(party);
        // Others have seen it in their links' handshakes.
        party.tell("welcome", new OfficeMessage.Welcome(office.head(), controller ? office.chain() : List.of()));
    }

    void leave(Party party) {
        office.listeners.leave(party);
        proved.closed(party);
    }

    /** @param chain that the party showed; empty for one whose link said who it is */
    void hear(Party party, List<ByteString> chain, PartyMessage message) {
        Role role = party.identity().role();
        if (message instanceof PartyMessage.Order order && role == Role.CONTROLLER) {
            orders.order(party, chain, order.ticket());
        } else if (message instanceof PartyMessage.Withdraw withdraw && role == Role.CONTROLLER) {
            orders.withdraw(party, withdraw.withdrawal());
        } else if (message instanceof PartyMessage.Ask ask && (role == Role.CONTROLLER || role == Role.DEVICE)) {
            orders.ask(party, ask.ticket());
        } else if (role == Role.DEVICE && message instanceof PartyMessage.Open open) {
            orders.open(party, open.chain(), open.opening());
        } else if (role == Role.DEVICE && message instanceof PartyMessage.Close close) {
            orders.close(party, close.chain(), close.withdrawal());
        } else if (message instanceof PartyMessage.Claim claim && role == Role.HOST) {
            claims.claim(party, claim.ticket(), claim.job());
        } else if (message instanceof PartyMessage.Report report && role == Role.HOST) {
            claims.report(party, report);
        } else if (message instanceof PartyMessage.AskQuota && role == Role.DEVICE) {
            quota(party);
        } else if (message instanceof PartyMessage.AskOpenings && role == Role.DEVICE) {
            openings.tell(party);
        } else if (message instanceof PartyMessage.Skipped) {
            party.skip();
        } else {
            party.answer(Refusals.of(
                    "", TicketClause.SIGNATURE, "a " + role + " may not say that here; docs/protocol.md, section 13"));
        }
    }

    private void quota(Party party) {
        String project = party.identity().name().project();
        office.commits.add(party.payer(), new Commits.Change() {
            @Override
            public void in(Commits.Records records) throws StateException {
                Optional<Approval> approval = office.around.approval(project);
                Usage usage = records.transaction().tickets().usage(project);
                records.afterwards(() -> party.answer(approval.<OfficeMessage>map(
                                each -> Quotas.of(each, Papers.usage(usage)))
                        .orElseGet(() -> Refusals.of("", TicketClause.PROJECT, "the site does not approve it now"))));
            }

            @Override
            public void failed() {
                party.answer(Refusals.unavailable(""));
            }
        });
    }

    /** Writes what happened elsewhere in the relay into the audit log. */
    public void record(AuditEvent event) {
        office.commits.add(records -> records.event(event));
    }

    /** The same of the last that happens: with what was counted until then. */
    public void recordLast(AuditEvent event) {
        office.commits.add(records -> {
            office.recordRefusals(records, office.refusals.all());
            records.event(event);
        });
    }

    /** The newest signed head of the audit log, an envelope. */
    public ByteString head() {
        return office.head();
    }

    /** Called once a second: ends tickets of those who are believed no more, and keeps the records. */
    public void look() {
        for (OpenIdentities.Ended<Party> each : office.around.beliefs().end(proved)) {
            LOG.info(
                    "ticket stream ended peer={} reason=\"{}\"",
                    each.by().name(),
                    each.refusal().getMessage());
            each.what().close();
        }
        if (!looking.compareAndSet(false, true)) {
            // The last one still waits for a disk that stalls.
            return;
        }
        office.commits.add(new Commits.Change() {
            @Override
            public void in(Commits.Records records) throws StateException {
                looking.set(false);
                endAndKeep(records, System.nanoTime());
            }

            @Override
            public void failed() {
                looking.set(false);
            }
        });
    }

    private void endAndKeep(Commits.Records records, long now) throws StateException {
        for (Tracked ticket : List.copyOf(office.tracked.values())) {
            if (ticket.stop.isEmpty() && !signers.isBelieved(ticket.signer)) {
                following.stop(ticket, TicketEnd.REVOKED);
            }
            List<Tracked.Waiting> late = ticket.claims.stream()
                    .filter(each -> now - each.sinceNs() > CLAIM_NS)
                    .toList();
            ticket.claims.removeAll(late);
            late.forEach(each -> each.party().answer(Refusals.unavailable(ticket.id)));
        }
        office.budget.count(office.now());
        if (office.log.isWritable() && office.terms.room().isAmple()) {
            office.recordRefusals(records, office.refusals.due(office.now()));
        }
        if (now - keptNs > KEEP_EVERY_NS) {
            keptNs = now;
            keep(records, now);
        }
    }

    private void keep(Commits.Records records, long now) throws StateException {
        Transaction transaction = records.transaction();
        transaction.numbers().tick();
        transaction.tickets().forget(office.now().minus(Tickets.KEPT), FORGOTTEN);
        List<String> without = transaction.numbers().idleProjects();
        idle.keySet().retainAll(without);
        for (String project : without) {
            if (office.listeners.has(project)) {
                idle.remove(project);
            } else if (now - idle.computeIfAbsent(project, each -> now)
                    > office.terms.times().lease().toNanos()) {
                transaction.numbers().releaseVlan(project);
                idle.remove(project);
            }
        }
    }

    /** Takes no new tickets, or takes them again; a restart does not change it. */
    public CompletableFuture<Boolean> drain(boolean on) {
        return ask(records -> {
            boolean was = records.transaction().marks().get(Orders.DRAINING).isPresent();
            if (on != was) {
                if (on) {
                    records.transaction().marks().set(Orders.DRAINING, "on");
                } else {
                    records.transaction().marks().clear(Orders.DRAINING);
                }
                records.event(AuditEvent.of(office.now(), on ? "relay.draining" : "relay.undrained"));
            }
            return on;
        });
    }

    /** For operators. */
    public record Standing(List<TicketRow> tickets, boolean draining, Numbers.Vlans vlans, boolean auditWritable) {}

    /** Open tickets, and those that ended since. */
    public CompletableFuture<Standing> standing(Instant since) {
        return ask(records -> {
            Transaction transaction = records.transaction();
            List<TicketRow> rows = new ArrayList<>(transaction.tickets().open());
            rows.addAll(transaction.tickets().endedSince(since, RECENT));
            return new Standing(
                    rows,
                    transaction.marks().get(Orders.DRAINING).isPresent(),
                    transaction.numbers().vlans(),
                    office.log.isWritable());
        });
    }

    private interface Question<T> {
        T in(Commits.Records records) throws StateException;
    }

    private <T> CompletableFuture<T> ask(Question<T> question) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        office.commits.add(new Commits.Change() {
            @Override
            public void in(Commits.Records records) throws StateException {
                T found = question.in(records);
                records.afterwards(() -> answer.complete(found));
            }

            @Override
            public void failed() {
                answer.completeExceptionally(new IOException("the relay's records cannot be read or changed now"));
            }
        });
        return answer;
    }

    /** The host of this VM; empty while none has claimed its slot, or an opening of it that runs. */
    public Optional<Name> hostOf(Name vm) {
        return office.whereabouts.of(vm);
    }

    /** Open tickets: for a metric. */
    public int open() {
        return office.tracked.size();
    }

    /** Changes of the records that wait: for a metric. */
    public int waiting() {
        return office.commits.waiting();
    }

    /** Seconds since Global Slurm last answered; 0 without one. */
    public int silence() {
        return slurm.map(SlurmCalls::silence).orElse(0);
    }

    /** Projects whose audit records of the day are used up: for a metric. */
    public int exhaustedProjects() {
        return office.budget.exhausted();
    }

    public boolean isAuditWritable() {
        return office.log.isWritable();
    }

    /** What was asked is done; jobs go on, and the next process of the relay follows them. */
    @Override
    public void close() {
        office.commits.close();
        slurm.ifPresent(SlurmCalls::close);
    }
}
