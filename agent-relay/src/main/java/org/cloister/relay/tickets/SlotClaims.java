package org.cloister.relay.tickets;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import org.cloister.protocol.audit.AuditField;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.ProjectTrustBundle;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.relay.state.DeliveredDocuments;
import org.cloister.relay.state.RelayDatabaseException;
import org.cloister.relay.state.RelayTransaction;
import org.cloister.relay.state.SlotRecords;
import org.cloister.relay.state.TicketRow;

/** Handles the messages of hosts: a claim to a slot for a job step, and a statement for the receipt. */
final class SlotClaims {
    /** Maximum size in bytes of a host's statement in its envelope. */
    static final int MAX_PART = 12 * 1024;

    static final String PART_TYPE = "application/vnd.in-toto+json";

    private final DeliveredDocuments documents;
    private final GroupCommitter commits;
    private final OpenTickets openTickets;
    private final VmLocations vmLocations;
    private final TicketListeners listeners;
    private final TicketUpdates updates;
    private final TicketJobTracker jobTracker;
    private final InstantSource clock;
    private final SignerIdentities signers;

    SlotClaims(
            DeliveredDocuments documents,
            GroupCommitter commits,
            OpenTickets openTickets,
            VmLocations vmLocations,
            TicketListeners listeners,
            TicketUpdates updates,
            TicketJobTracker jobTracker,
            InstantSource clock) {
        this.documents = documents;
        this.commits = commits;
        this.openTickets = openTickets;
        this.vmLocations = vmLocations;
        this.listeners = listeners;
        this.updates = updates;
        this.jobTracker = jobTracker;
        this.clock = clock;
        this.signers = new SignerIdentities(documents);
    }

    void claim(TicketPeer host, String ticket, long job) {
        commits.add(payer(host, ticket), new Claim(host, ticket, job));
    }

    /** Returns whose turn the claim uses: that of the project that waits for it, if the ticket is open. */
    private String payer(TicketPeer host, String ticket) {
        TicketRuntimeState open = openTickets.find(ticket);
        return open == null ? host.payer() : open.project;
    }

    /** Claim of a slot. A job step starts before the relay has polled Slurm, so its host waits for the allocation. */
    private final class Claim implements GroupCommitter.Change {
        private final TicketPeer host;
        private final String ticket;
        private final long job;

        Claim(TicketPeer host, String ticket, long job) {
            this.host = host;
            this.ticket = ticket;
            this.job = job;
        }

        @Override
        public void apply(GroupCommitter.Context records) throws RelayDatabaseException {
            Optional<TicketRow> row = records.transaction().tickets().byId(ticket);
            if (row.isEmpty()) {
                records.onCommitted(() -> host.answer(RefusalMessages.unknown(ticket, "this relay")));
            } else if (row.get().state() == TicketState.ENDED) {
                records.onCommitted(() -> host.answer(RefusalMessages.ended(
                        ticket, Objects.requireNonNull(row.get().end()))));
            } else if (row.get().allocated()) {
                answerClaim(records, host, row.get(), job);
            } else {
                records.onCommitted(() -> jobTracker.awaitAllocation(
                        ticket,
                        new TicketRuntimeState.PendingClaim(host, () -> claim(host, ticket, job), System.nanoTime())));
            }
        }

        @Override
        public void onFailure() {
            host.answer(RefusalMessages.unavailable(ticket));
        }
    }

    /** Answers a claim to a ticket whose allocation is signed. */
    void answerClaim(GroupCommitter.Context records, TicketPeer host, TicketRow row, long job)
            throws RelayDatabaseException {
        byte[] envelope = records.transaction().tickets().allocation(row.id()).orElseThrow();
        Optional<AllocatedSlot> slot = slot(envelope, host.identity(), job);
        if (slot.isEmpty()) {
            records.onCommitted(() -> host.answer(RefusalMessages.of(
                    row.id(),
                    TicketClause.PROJECT,
                    "ticket " + row.id() + ": its allocation does not contain "
                            + host.identity().name() + " with job " + job
                            + "; find out which process called the host")));
            return;
        }
        List<ByteString> chain = TicketRecords.decodeChain(
                records.transaction().tickets().chain(row.id()).orElseThrow());
        ProjectTrustBundle project = documents.trustBundle(row.request().project(), signers.anchor(chain));
        if (project.documentBytes() > ProjectTrustBundle.MAX_DOCUMENTS) {
            records.onCommitted(() -> host.answer(RefusalMessages.of(
                    row.id(),
                    TicketClause.LIMIT,
                    "project " + row.request().project() + " has documents of "
                            + project.documentBytes() + " bytes, and at most " + ProjectTrustBundle.MAX_DOCUMENTS
                            + " are permitted; have the owners create a new project")));
            return;
        }
        AllocatedSlot allocated = slot.get();
        String name = host.identity().name().toString();
        boolean first = records.transaction().slots().claims(row.id()).stream()
                .noneMatch(claim -> claim.slot() == allocated.slot());
        records.transaction().slots().claim(row.id(), allocated.slot(), name, clock.instant());
        records.onCommitted(() -> vmLocations.onSlotClaimed(
                row.request(), allocated.slot(), host.identity().name()));
        if (first) {
            records.event(updates.event("slot.claimed", row)
                    .by(host.identity().key().id())
                    .with(AuditField.SLOT, allocated.slot())
                    .with(AuditField.HOST, name));
        }
        ByteString ticket = ByteString.copyFrom(
                records.transaction().tickets().envelope(row.id()).orElseThrow());
        records.onAudited(() -> host.answer(
                row.id(),
                new RelayTicketMessage.Claimed(ticket, chain, ByteString.copyFrom(envelope), updates.head(), project)));
    }

    private static Optional<AllocatedSlot> slot(byte[] envelope, CertifiedIdentity host, long job) {
        Allocation allocation = TicketRecords.ownAllocation(envelope);
        return allocation.slots().stream()
                .filter(slot -> slot.key().equals(host.key()) && allocation.globalJob() == job)
                .findFirst();
    }

    void report(TicketPeer host, AgentTicketMessage.Report report) {
        String ticket = report.ticket();
        byte[] envelope = report.statement().toByteArray();
        try {
            DsseEnvelope.parse(envelope, MAX_PART)
                    .verify(PART_TYPE, Set.of(host.identity().key()), 1);
        } catch (IOException e) {
            host.answer(RefusalMessages.of(ticket, TicketClause.SIGNATURE, String.valueOf(e.getMessage())));
            return;
        }
        commits.add(host.payer(), new GroupCommitter.Change() {
            @Override
            public void apply(GroupCommitter.Context records) throws RelayDatabaseException {
                store(records, host, report, envelope);
            }

            @Override
            public void onFailure() {
                host.answer(RefusalMessages.unavailable(ticket));
            }
        });
    }

    private void store(
            GroupCommitter.Context records, TicketPeer host, AgentTicketMessage.Report report, byte[] envelope)
            throws RelayDatabaseException {
        String ticket = report.ticket();
        String name = host.identity().name().toString();
        Optional<TicketRow> row = records.transaction().tickets().byId(ticket);
        boolean allocated = records.transaction().slots().claims(ticket).stream()
                .anyMatch(claim -> claim.slot() == report.slot() && claim.host().equals(name));
        if (row.isEmpty() || !allocated) {
            records.onCommitted(
                    () -> host.answer(RefusalMessages.unknown(ticket, "slot " + report.slot() + " of " + name)));
            return;
        }
        String signer = host.identity().key().id();
        if (records.transaction()
                .slots()
                .addStatement(ticket, signer, envelope, TicketRecords.encodeChain(host.chain()))) {
            records.event(updates.event("slot.reported", row.get())
                    .by(signer)
                    .with(AuditField.SLOT, report.slot())
                    .with(AuditField.HOST, name));
            records.onAudited(() -> listeners.sendUpdate(
                    row.get().request().signer(),
                    ticket + "/" + report.slot(),
                    new RelayTicketMessage.ForwardedStatement(
                            ticket, report.slot(), report.statement(), host.chain())));
        }
        records.onAudited(
                () -> host.answer(new RelayTicketMessage.StatementStored(ticket, report.slot(), updates.head())));
    }

    /** Passes on why a host cannot run the VM of a slot that it has claimed; anything else is skipped. */
    void forwardFault(TicketPeer host, AgentTicketMessage.HostFault fault) {
        commits.add(host.payer(), new GroupCommitter.Change() {
            @Override
            public void apply(GroupCommitter.Context records) throws RelayDatabaseException {
                Optional<TicketRow> row = records.transaction().tickets().byId(fault.ticket());
                String name = host.identity().name().toString();
                OptionalInt slot = records.transaction().slots().claims(fault.ticket()).stream()
                        .filter(claim -> claim.host().equals(name))
                        .mapToInt(claim -> claim.slot())
                        .findFirst();
                records.onCommitted(host::skipAnswer);
                if (row.isPresent() && slot.isPresent() && row.get().state() != TicketState.ENDED) {
                    records.onCommitted(() -> listeners.sendUpdate(
                            row.get().request().signer(),
                            fault.ticket() + "/fault/" + slot.getAsInt(),
                            new RelayTicketMessage.HostFault(
                                    fault.ticket(),
                                    slot.getAsInt(),
                                    fault.code(),
                                    fault.phase(),
                                    host.identity().name().id())));
                }
            }

            @Override
            public void onFailure() {
                host.skipAnswer();
            }
        });
    }

    /** Returns the hosts' statements of a ticket's receipt that have been received. */
    static List<RelayTicketMessage.ForwardedStatement> statements(RelayTransaction records, String ticket)
            throws RelayDatabaseException {
        Map<String, SlotRecords.StoredStatement> stored = records.slots().statements(ticket);
        if (stored.isEmpty()) {
            return List.of();
        }
        Allocation allocation =
                TicketRecords.ownAllocation(records.tickets().allocation(ticket).orElseThrow());
        List<RelayTicketMessage.ForwardedStatement> parts = new ArrayList<>();
        for (AllocatedSlot slot : allocation.slots()) {
            SlotRecords.StoredStatement part = stored.get(slot.key().id());
            if (part != null) {
                parts.add(new RelayTicketMessage.ForwardedStatement(
                        ticket,
                        slot.slot(),
                        part.envelope(),
                        TicketRecords.decodeChain(part.chain().toByteArray())));
            }
        }
        return parts;
    }
}
