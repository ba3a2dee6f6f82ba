package org.cloister.relay.ticket;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.cloister.protocol.audit.Fact;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.ProjectPapers;
import org.cloister.protocol.ticket.Slot;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.relay.state.Slots;
import org.cloister.relay.state.StateException;
import org.cloister.relay.state.TicketRow;
import org.cloister.relay.state.Transaction;

/** What hosts ask and say: a slot for a job step, and their part of the receipt. */
final class Claims {
    /** Of a host's part of a receipt, in its envelope. */
    static final int MAX_PART = 12 * 1024;

    static final String PART_TYPE = "application/vnd.in-toto+json";

    private final Office office;
    private final Following following;
    private final Signers signers;

    Claims(Office office, Following following) {
        this.office = office;
        this.following = following;
        this.signers = new Signers(office.around);
    }

    void claim(Party host, String ticket, long job) {
        office.commits.add(payer(host, ticket), new Claim(host, ticket, job));
    }

    /** Whose turn it takes: the project's that waits for it, if the ticket is open. */
    private String payer(Party host, String ticket) {
        Tracked open = office.tracked.get(ticket);
        return open == null ? host.payer() : open.project;
    }

    /** A job step is faster than the question to Slurm: its host waits for the allocation. */
    private final class Claim implements Commits.Change {
        private final Party host;
        private final String ticket;
        private final long job;

        Claim(Party host, String ticket, long job) {
            this.host = host;
            this.ticket = ticket;
            this.job = job;
        }

        @Override
        public void in(Commits.Records records) throws StateException {
            Optional<TicketRow> row = records.transaction().tickets().byId(ticket);
            if (row.isEmpty()) {
                records.afterwards(() -> host.answer(Refusals.unknown(ticket, "this relay")));
            } else if (row.get().state() == TicketState.ENDED) {
                records.afterwards(() -> host.answer(
                        Refusals.ended(ticket, Objects.requireNonNull(row.get().end()))));
            } else if (row.get().allocated()) {
                give(records, host, row.get(), job);
            } else {
                records.afterwards(() -> following.await(
                        ticket, new Tracked.Waiting(host, () -> claim(host, ticket, job), System.nanoTime())));
            }
        }

        @Override
        public void failed() {
            host.answer(Refusals.unavailable(ticket));
        }
    }

    /** Of a ticket whose allocation is signed. */
    void give(Commits.Records records, Party host, TicketRow row, long job) throws StateException {
        byte[] envelope = records.transaction().tickets().allocation(row.id()).orElseThrow();
        Optional<Slot> slot = slot(envelope, host.identity(), job);
        if (slot.isEmpty()) {
            records.afterwards(() -> host.answer(Refusals.of(
                    row.id(),
                    TicketClause.PROJECT,
                    "ticket " + row.id() + ": want a host and job of its allocation, have "
                            + host.identity().name() + " and job " + job + "; look who called the host")));
            return;
        }
        List<ByteString> chain =
                Papers.read(records.transaction().tickets().chain(row.id()).orElseThrow());
        ProjectPapers project = office.around.papers(row.request().project(), signers.anchor(chain));
        if (project.documentBytes() > ProjectPapers.MAX_DOCUMENTS) {
            records.afterwards(() -> host.answer(Refusals.of(
                    row.id(),
                    TicketClause.LIMIT,
                    "project " + row.request().project() + ": want documents of at most " + ProjectPapers.MAX_DOCUMENTS
                            + " bytes, have " + project.documentBytes() + "; the owners begin a new project")));
            return;
        }
        Slot its = slot.get();
        String name = host.identity().name().toString();
        boolean first =
                records.transaction().slots().claims(row.id()).stream().noneMatch(claim -> claim.slot() == its.slot());
        records.transaction().slots().claim(row.id(), its.slot(), name, office.now());
        records.afterwards(() -> office.whereabouts.claimed(
                row.request(), its.slot(), host.identity().name()));
        if (first) {
            records.event(office.event("slot.claimed", row)
                    .by(host.identity().key().id())
                    .with(Fact.SLOT, its.slot())
                    .with(Fact.HOST, name));
        }
        ByteString ticket = ByteString.copyFrom(
                records.transaction().tickets().envelope(row.id()).orElseThrow());
        records.onceAudited(() -> host.answer(
                row.id(),
                new OfficeMessage.Claimed(ticket, chain, ByteString.copyFrom(envelope), office.head(), project)));
    }

    private static Optional<Slot> slot(byte[] envelope, Identity host, long job) {
        Allocation allocation = Papers.ownAllocation(envelope);
        return allocation.slots().stream()
                .filter(slot -> slot.key().equals(host.key()) && allocation.globalJob() == job)
                .findFirst();
    }

    void report(Party host, PartyMessage.Report report) {
        String ticket = report.ticket();
        byte[] envelope = report.statement().toByteArray();
        try {
            Envelope.parse(envelope, MAX_PART)
                    .verify(PART_TYPE, Set.of(host.identity().key()), 1);
        } catch (IOException e) {
            host.answer(Refusals.of(ticket, TicketClause.SIGNATURE, String.valueOf(e.getMessage())));
            return;
        }
        office.commits.add(host.payer(), new Commits.Change() {
            @Override
            public void in(Commits.Records records) throws StateException {
                keep(records, host, report, envelope);
            }

            @Override
            public void failed() {
                host.answer(Refusals.unavailable(ticket));
            }
        });
    }

    private void keep(Commits.Records records, Party host, PartyMessage.Report report, byte[] envelope)
            throws StateException {
        String ticket = report.ticket();
        String name = host.identity().name().toString();
        Optional<TicketRow> row = records.transaction().tickets().byId(ticket);
        boolean its = records.transaction().slots().claims(ticket).stream()
                .anyMatch(claim -> claim.slot() == report.slot() && claim.host().equals(name));
        if (row.isEmpty() || !its) {
            records.afterwards(() -> host.answer(Refusals.unknown(ticket, "slot " + report.slot() + " of " + name)));
            return;
        }
        String signer = host.identity().key().id();
        if (records.transaction().slots().addPart(ticket, signer, envelope, Papers.write(host.chain()))) {
            records.event(office.event("slot.reported", row.get())
                    .by(signer)
                    .with(Fact.SLOT, report.slot())
                    .with(Fact.HOST, name));
            records.onceAudited(() -> office.listeners.tell(
                    row.get().request().signer(),
                    ticket + "/" + report.slot(),
                    new OfficeMessage.Part(ticket, report.slot(), report.statement(), host.chain())));
        }
        records.onceAudited(() -> host.answer(new OfficeMessage.Reported(ticket, report.slot(), office.head())));
    }

    /** Of a ticket's receipt, as far as they came. */
    static List<OfficeMessage.Part> parts(Transaction records, String ticket) throws StateException {
        Map<String, Slots.Part> kept = records.slots().parts(ticket);
        if (kept.isEmpty()) {
            return List.of();
        }
        Allocation allocation =
                Papers.ownAllocation(records.tickets().allocation(ticket).orElseThrow());
        List<OfficeMessage.Part> parts = new ArrayList<>();
        for (Slot slot : allocation.slots()) {
            Slots.Part part = kept.get(slot.key().id());
            if (part != null) {
                parts.add(new OfficeMessage.Part(
                        ticket,
                        slot.slot(),
                        part.envelope(),
                        Papers.read(part.chain().toByteArray())));
            }
        }
        return parts;
    }
}
