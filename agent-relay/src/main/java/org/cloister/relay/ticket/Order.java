package org.cloister.relay.ticket;

import com.google.protobuf.ByteString;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.BinaryText;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.audit.Fact;
import org.cloister.protocol.identity.Approval;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.Position;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.SignedOpening;
import org.cloister.protocol.ticket.SignedRequest;
import org.cloister.protocol.ticket.SignedTicket;
import org.cloister.protocol.ticket.TicketCheck;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketRefused;
import org.cloister.protocol.ticket.Usage;
import org.cloister.relay.state.Lease;
import org.cloister.relay.state.Refusal;
import org.cloister.relay.state.Sequence;
import org.cloister.relay.state.SequenceException;
import org.cloister.relay.state.StateException;
import org.cloister.relay.state.TakenException;
import org.cloister.relay.state.TicketRequest;
import org.cloister.relay.state.TicketRow;
import org.cloister.relay.state.Tickets;
import org.cloister.relay.state.Transaction;

/** A ticket or an opening whose signature holds, to be taken or refused. */
final class Order implements Commits.Change {
    private final Office office;
    private final Following following;
    private final Party party;
    private final List<ByteString> chain;
    private final ByteString envelope;
    private final SignedRequest signed;

    /**
     * What came.
     *
     * @param chain that the party showed
     * @param signed what the envelope holds
     */
    record Paper(List<ByteString> chain, ByteString envelope, SignedRequest signed) {
        Paper {
            chain = List.copyOf(chain);
        }
    }

    Order(Office office, Following following, Party party, Paper paper) {
        this.office = office;
        this.following = following;
        this.party = party;
        this.chain = paper.chain;
        this.envelope = paper.envelope;
        this.signed = paper.signed;
    }

    private String id() {
        return signed.id();
    }

    @Override
    public void in(Commits.Records records) throws StateException {
        try {
            Optional<TicketRow> before = records.transaction().tickets().byId(id());
            if (before.isPresent()) {
                again(records, before.get());
            } else {
                take(records);
            }
        } catch (TicketRefused e) {
            refuse(records, e);
        }
    }

    /** An answer was lost: the same ticket gets it again. */
    private void again(Commits.Records records, TicketRow row) throws StateException, TicketRefused {
        if (!row.request().digest().equals(signed.digest())) {
            throw used();
        }
        if (signed instanceof SignedTicket ticket) {
            takeOver(records, row, ticket.life());
        }
        OfficeMessage.Update update = office.update(records.transaction(), row);
        records.onceAudited(() -> party.answer(update));
    }

    /** A controlling VM that was opened anew answers for what one before it, of its name, has signed with a key that is gone. */
    private void takeOver(Commits.Records records, TicketRow row, long life) throws StateException, TicketRefused {
        Tracked ticket = office.tracked.get(id());
        Identity signer = signed.signer();
        if (ticket == null
                || !signer.name().toString().equals(row.request().signer())
                || ticket.signer
                        .filter(before -> before.key().equals(signer.key()))
                        .isPresent()) {
            return;
        }
        long before = Papers.life(records.transaction().tickets().envelope(id()).orElseThrow());
        if (life <= before) {
            throw new TicketRefused(
                    TicketClause.SEQUENCE,
                    signed.subject(),
                    "the word of an epoch after " + before,
                    Long.toString(life),
                    "another controlling VM of the project was opened later, or has this ticket as well");
        }
        if (!office.budget.hasForTakeOver(signed.project(), office.now())) {
            throw tooMuch(AuditBudget.TAKE_OVER);
        }
        if (records.transaction().tickets().signedAnew(id(), envelope.toByteArray(), Papers.write(chain))) {
            records.event(event("taken-over").with(Fact.EPOCH, life));
            office.budget.charge(signed.project(), AuditBudget.TAKE_OVER, office.now());
            records.afterwards(() -> ticket.signer = Optional.of(signer));
        }
    }

    private TicketRefused used() {
        return new TicketRefused(
                TicketClause.USED,
                signed.subject(),
                "an id that was never used",
                "one of another request",
                "sign a new one");
    }

    private void take(Commits.Records records) throws StateException, TicketRefused {
        Approval approval = requireWorking(records.transaction());
        Transaction transaction = records.transaction();
        Instant now = office.now();
        check(transaction.tickets(), approval, now);
        long cost = AuditBudget.cost(1, signed.request().nodes());
        if (!office.budget.hasForWork(signed.project(), cost, now)) {
            throw tooMuch(cost);
        }
        Lease lease = record(transaction, approval, now);
        office.budget.charge(signed.project(), cost, now);
        transaction.tickets().submitting(id(), now);
        records.event(accepted(approval, lease));
        TicketRow row = transaction.tickets().byId(id()).orElseThrow();
        OfficeMessage.Update update = office.update(transaction, row);
        records.afterwards(() -> following.track(row, signed.signer()));
        if (row.isOpening()) {
            supersede(records);
        }
        records.onceAudited(() -> {
            (row.isOpening() ? office.metrics.opened : office.metrics.accepted).inc();
            party.answer(update);
            following.submit(id());
        });
    }

    private void check(Tickets tickets, Approval approval, Instant now) throws StateException, TicketRefused {
        String project = signed.project();
        if (signed instanceof SignedTicket ticket) {
            Position newest = tickets.highest(project)
                    .map(at -> new Position(at.epoch(), at.number()))
                    .orElse(Position.NONE);
            TicketCheck.require(ticket, newest, approval, Papers.usage(tickets.usage(project)), now);
        } else if (signed instanceof SignedOpening opening) {
            // Those that are open end before it runs.
            Usage besides = Papers.usage(tickets.usageOfTickets(project));
            TicketCheck.require(opening, tickets.highestOpening(project), approval, besides, now);
        }
    }

    /** A restart finds them by their epochs. */
    private void supersede(Commits.Records records) throws StateException {
        for (TicketRow each : records.transaction().tickets().openOpenings(signed.project())) {
            if (!each.id().equals(id())) {
                records.afterwards(() -> following.supersede(each));
            }
        }
    }

    private Approval requireWorking(Transaction transaction) throws StateException, TicketRefused {
        String subject = signed.subject();
        if (!following.hasSlurm()) {
            throw new TicketRefused(
                    TicketClause.NO_SLURM,
                    subject,
                    "a relay with a Global Slurm",
                    "one without",
                    "have its operator configure [slurm], or ask another relay");
        }
        if (signed instanceof SignedOpening && !following.hasControllers()) {
            throw new TicketRefused(
                    TicketClause.NO_SLURM,
                    subject,
                    "a relay with a partition for controlling VMs",
                    "one without",
                    "have its operator configure slurm.controllers, or ask another relay");
        }
        if (transaction.marks().get(Orders.DRAINING).isPresent()) {
            throw new TicketRefused(
                    TicketClause.DRAINING,
                    subject,
                    "a relay that takes new work",
                    "one that drains",
                    "wait, or ask its operator (agentctl relay drain --undo)");
        }
        if (!office.log.isWritable()) {
            throw new TicketRefused(
                    TicketClause.AUDIT,
                    subject,
                    "an audit log that can be written",
                    "one that cannot",
                    "wait; its operator's log says why");
        }
        if (!office.terms.room().isAmple()) {
            throw new TicketRefused(
                    TicketClause.AUDIT,
                    subject,
                    "more than " + office.terms.room().reserveBytes()
                            + " bytes free where the relay keeps its audit log",
                    Long.toString(office.terms.room().freeBytes().getAsLong()),
                    "wait; its operator makes room (docs/operations.md, The audit log)");
        }
        return office.around
                .approval(signed.project())
                .orElseThrow(() -> new TicketRefused(
                        TicketClause.PROJECT,
                        subject,
                        "a project that the site approves now",
                        signed.project(),
                        "have the site approve it"));
    }

    private TicketRefused tooMuch(long cost) {
        return new TicketRefused(
                TicketClause.AUDIT,
                signed.subject(),
                "at most " + office.budget.perDay() + " bytes of audit records a day of project " + signed.project(),
                office.budget.used(signed.project(), office.now()) + ", and " + cost + " for this",
                "wait until midnight UTC; what was taken goes on");
    }

    private Lease record(Transaction transaction, Approval approval, Instant now) throws StateException, TicketRefused {
        ResourceRequest asked = signed.request();
        TicketRequest request = new TicketRequest(
                id(),
                signed.project(),
                signed.signer().name().toString(),
                signed.digest(),
                new Sequence(
                        signed.epoch(),
                        signed instanceof SignedTicket it ? it.ticket().sequence() : 0),
                asked.nodes(),
                asked.cpusInAll(),
                asked.memoryMibInAll(),
                approval.account(),
                now,
                drive());
        try {
            return transaction.attempt(part -> {
                part.tickets().insert(request, envelope.toByteArray(), Papers.write(chain));
                return request.isOpening()
                        ? part.numbers().takeController(id(), request.project())
                        : part.numbers().take(id(), request.project(), asked.nodes());
            });
        } catch (Refusal e) {
            throw refusal(e);
        }
    }

    private Optional<String> drive() {
        return signed instanceof SignedOpening it ? Optional.of(it.opening().drive()) : Optional.empty();
    }

    private TicketRefused refusal(Refusal why) {
        if (why instanceof TakenException) {
            return used();
        }
        boolean old = why instanceof SequenceException;
        return new TicketRefused(
                old ? TicketClause.SEQUENCE : TicketClause.EXHAUSTED,
                signed.subject(),
                old ? "one after all earlier ones" : "free numbers",
                String.valueOf(why.getMessage()),
                old ? "sign a new one" : "wait for other tickets to end, or have the site configure more");
    }

    private AuditEvent accepted(Approval approval, Lease lease) {
        ResourceRequest asked = signed.request();
        String signer = signed.signer().name().toString();
        AuditEvent event = event("accepted");
        if (signed instanceof SignedTicket ticket) {
            event = event.with(Fact.CONTROLLER, signer)
                    .with(Fact.SEQUENCE, ticket.ticket().sequence());
        } else if (signed instanceof SignedOpening opening) {
            event = event.with(Fact.OPENER, signer)
                    .with(Fact.DRIVE, opening.opening().drive());
        }
        return event.with(Fact.DIGEST, BinaryText.base32(signed.digest().bytes()))
                .with(Fact.EPOCH, signed.epoch())
                .with(Fact.ACCOUNT, approval.account())
                .with(Fact.NODES, asked.nodes())
                .with(Fact.CPUS, asked.cpusInAll())
                .with(Fact.MEMORY_MIB, asked.memoryMibInAll())
                .with(Fact.MINUTES, asked.minutes())
                .with(Fact.VLAN, lease.vlan());
    }

    private AuditEvent event(String what) {
        return AuditEvent.of(office.now(), (signed instanceof SignedOpening ? "opening." : "ticket.") + what)
                .by(signed.signer().key().id())
                .with(Fact.PROJECT, signed.project())
                .with(Fact.TICKET, id());
    }

    /** Counted here, and recorded with the others of its minute: whoever may sign must not fill the disk with refusals. */
    private void refuse(Commits.Records records, TicketRefused why) {
        boolean opening = signed instanceof SignedOpening;
        RefusalCounts.Key key =
                new RefusalCounts.Key(opening ? "opening.refused" : "ticket.refused", signed.project(), why.clause());
        records.afterwards(() -> {
            office.refusals.add(key, signed.signer().key().id(), id(), office.now());
            office.metrics.refuse(opening ? office.metrics.notOpened : office.metrics.refused, why.clause());
            party.answer(Refusals.of(id(), why));
        });
    }

    @Override
    public void failed() {
        party.answer(Refusals.unavailable(id()));
    }
}
