package org.cloister.relay.ticket;

import com.google.protobuf.ByteString;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.BinaryText;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.audit.Fact;
import org.cloister.protocol.identity.Approval;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.Position;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.SignedTicket;
import org.cloister.protocol.ticket.TicketCheck;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketRefused;
import org.cloister.relay.state.Lease;
import org.cloister.relay.state.Refusal;
import org.cloister.relay.state.Sequence;
import org.cloister.relay.state.SequenceException;
import org.cloister.relay.state.StateException;
import org.cloister.relay.state.TakenException;
import org.cloister.relay.state.TicketRequest;
import org.cloister.relay.state.TicketRow;
import org.cloister.relay.state.Transaction;

/** A ticket whose signature holds, to be taken or refused. */
final class Order implements Commits.Change {
    private final Office office;
    private final Following following;
    private final Party party;
    private final List<ByteString> chain;
    private final ByteString envelope;
    private final SignedTicket signed;

    /**
     * What came.
     *
     * @param chain that the party showed
     * @param signed what the envelope holds
     */
    record Paper(List<ByteString> chain, ByteString envelope, SignedTicket signed) {
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
        return signed.ticket().id();
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
        OfficeMessage.Update update = office.update(records.transaction(), row);
        records.onceAudited(() -> party.answer(update));
    }

    private TicketRefused used() {
        return new TicketRefused(
                TicketClause.USED,
                "ticket " + id(),
                "an id that was never used",
                "one of another ticket",
                "sign a new ticket");
    }

    private void take(Commits.Records records) throws StateException, TicketRefused {
        Approval approval = requireWorking(records.transaction());
        String project = signed.ticket().project();
        Transaction transaction = records.transaction();
        TicketCheck.require(
                signed,
                transaction
                        .tickets()
                        .highest(project)
                        .map(at -> new Position(at.epoch(), at.number()))
                        .orElse(Position.NONE),
                approval,
                Papers.usage(transaction.tickets().usage(project)),
                office.now());
        Instant now = office.now();
        Lease lease = record(transaction, approval, now);
        transaction.tickets().submitting(id(), now);
        records.event(accepted(approval, lease));
        TicketRow row = transaction.tickets().byId(id()).orElseThrow();
        OfficeMessage.Update update = office.update(transaction, row);
        records.afterwards(() -> following.track(row, signed.signer()));
        records.onceAudited(() -> {
            office.metrics.accepted.inc();
            party.answer(update);
            following.submit(id());
        });
    }

    private Approval requireWorking(Transaction transaction) throws StateException, TicketRefused {
        String subject = "ticket " + id();
        if (!following.hasSlurm()) {
            throw new TicketRefused(
                    TicketClause.NO_SLURM,
                    subject,
                    "a relay with a Global Slurm",
                    "one without",
                    "have its operator configure [slurm], or ask another relay");
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
        return office.around
                .approval(signed.ticket().project())
                .orElseThrow(() -> new TicketRefused(
                        TicketClause.PROJECT,
                        subject,
                        "a project that the site approves now",
                        signed.ticket().project(),
                        "have the site approve it"));
    }

    private Lease record(Transaction transaction, Approval approval, Instant now) throws StateException, TicketRefused {
        ResourceRequest asked = signed.ticket().request();
        TicketRequest request = new TicketRequest(
                id(),
                signed.ticket().project(),
                signed.signer().name().toString(),
                signed.digest(),
                new Sequence(signed.ticket().epoch(), signed.ticket().sequence()),
                asked.nodes(),
                asked.cpusInAll(),
                asked.memoryMibInAll(),
                approval.account(),
                now);
        try {
            return transaction.attempt(part -> {
                part.tickets().insert(request, envelope.toByteArray(), Papers.write(chain));
                return part.numbers().take(id(), request.project(), asked.nodes());
            });
        } catch (Refusal e) {
            throw refusal(e);
        }
    }

    private TicketRefused refusal(Refusal why) {
        if (why instanceof TakenException) {
            return used();
        }
        boolean old = why instanceof SequenceException;
        return new TicketRefused(
                old ? TicketClause.SEQUENCE : TicketClause.EXHAUSTED,
                "ticket " + id(),
                old ? "one after all earlier ones" : "free numbers",
                String.valueOf(why.getMessage()),
                old ? "sign a new ticket" : "wait for other tickets to end, or have the site configure more");
    }

    private AuditEvent accepted(Approval approval, Lease lease) {
        ResourceRequest asked = signed.ticket().request();
        return AuditEvent.of(office.now(), "ticket.accepted")
                .by(signed.signer().key().id())
                .with(Fact.PROJECT, signed.ticket().project())
                .with(Fact.TICKET, id())
                .with(Fact.CONTROLLER, signed.signer().name().toString())
                .with(Fact.DIGEST, BinaryText.base32(signed.digest().bytes()))
                .with(Fact.EPOCH, signed.ticket().epoch())
                .with(Fact.SEQUENCE, signed.ticket().sequence())
                .with(Fact.ACCOUNT, approval.account())
                .with(Fact.NODES, asked.nodes())
                .with(Fact.CPUS, asked.cpusInAll())
                .with(Fact.MEMORY_MIB, asked.memoryMibInAll())
                .with(Fact.MINUTES, asked.minutes())
                .with(Fact.VLAN, lease.vlan());
    }

    /** In the log only while it can be written: what waits for it must not fill the disk with refusals. */
    private void refuse(Commits.Records records, TicketRefused why) throws StateException {
        if (office.log.isWritable()) {
            records.event(AuditEvent.of(office.now(), "ticket.refused")
                    .by(signed.signer().key().id())
                    .with(Fact.PROJECT, signed.ticket().project())
                    .with(Fact.TICKET, id())
                    .with(Fact.CLAUSE, why.clause().toString()));
        }
        records.afterwards(() -> {
            office.metrics.refused.inc();
            party.answer(Refusals.of(id(), why));
        });
    }

    @Override
    public void failed() {
        party.answer(Refusals.unavailable(id()));
    }
}
