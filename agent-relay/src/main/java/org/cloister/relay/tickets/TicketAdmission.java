package org.cloister.relay.tickets;

import com.google.protobuf.ByteString;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.cloister.audit.AuditLogWriter;
import org.cloister.base.encoding.BinaryText;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.audit.AuditField;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.ProjectApproval;
import org.cloister.protocol.ticket.QuotaUsage;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.SignedOpening;
import org.cloister.protocol.ticket.SignedRequest;
import org.cloister.protocol.ticket.SignedTicket;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketPosition;
import org.cloister.protocol.ticket.TicketRefusedException;
import org.cloister.protocol.ticket.TicketVerifier;
import org.cloister.relay.state.AuditSpace;
import org.cloister.relay.state.DeliveredDocuments;
import org.cloister.relay.state.DuplicateTicketException;
import org.cloister.relay.state.NetworkLease;
import org.cloister.relay.state.RelayDatabaseException;
import org.cloister.relay.state.RelayTransaction;
import org.cloister.relay.state.StateConflictException;
import org.cloister.relay.state.TicketRequest;
import org.cloister.relay.state.TicketRow;
import org.cloister.relay.state.TicketSequenceException;
import org.cloister.relay.state.TicketTable;

/** Admits or refuses tickets and openings whose signatures were verified. */
final class TicketAdmission {
    private final AuditSpace auditSpace;
    private final DeliveredDocuments documents;
    private final AuditLogWriter log;
    private final AuditBudget budget;
    private final RefusalCounts refusals;
    private final OpenTickets openTickets;
    private final TicketUpdates updates;
    private final TicketJobTracker jobTracker;
    private final TicketMetrics metrics;
    private final InstantSource clock;

    TicketAdmission(
            AuditSpace auditSpace,
            DeliveredDocuments documents,
            AuditLogWriter log,
            AuditBudget budget,
            RefusalCounts refusals,
            OpenTickets openTickets,
            TicketUpdates updates,
            TicketJobTracker jobTracker,
            TicketMetrics metrics,
            InstantSource clock) {
        this.auditSpace = auditSpace;
        this.documents = documents;
        this.log = log;
        this.budget = budget;
        this.refusals = refusals;
        this.openTickets = openTickets;
        this.updates = updates;
        this.jobTracker = jobTracker;
        this.metrics = metrics;
        this.clock = clock;
    }

    /**
     * Received ticket or opening.
     *
     * @param chain the chain that the peer showed
     * @param signed content of the envelope
     */
    record Submission(List<ByteString> chain, ByteString envelope, SignedRequest signed) {
        Submission {
            chain = List.copyOf(chain);
        }
    }

    /** Returns the change that admits or refuses a submission of this peer. */
    GroupCommitter.Change of(TicketPeer peer, Submission submission) {
        return new Admission(peer, submission);
    }

    /** Admission of one submission. */
    private final class Admission implements GroupCommitter.Change {
        private final TicketPeer peer;
        private final List<ByteString> chain;
        private final ByteString envelope;
        private final SignedRequest signed;

        Admission(TicketPeer peer, Submission submission) {
            this.peer = peer;
            this.chain = submission.chain;
            this.envelope = submission.envelope;
            this.signed = submission.signed;
        }

        private String id() {
            return signed.id();
        }

        @Override
        public void apply(GroupCommitter.Context records) throws RelayDatabaseException {
            try {
                Optional<TicketRow> before = records.transaction().tickets().byId(id());
                if (before.isPresent()) {
                    repeatResponse(records, before.get());
                } else {
                    admit(records);
                }
            } catch (TicketRefusedException e) {
                refuse(records, e);
            }
        }

        /** Answers a repeated ticket, whose first answer was lost, once more. */
        private void repeatResponse(GroupCommitter.Context records, TicketRow row)
                throws RelayDatabaseException, TicketRefusedException {
            if (!row.request().digest().equals(signed.digest())) {
                throw idUsed();
            }
            if (signed instanceof SignedTicket ticket) {
                takeOver(records, row, ticket.controllerEpoch());
            }
            RelayTicketMessage.Update update = updates.update(records.transaction(), row);
            records.onAudited(() -> peer.answer(update));
        }

        /**
         * Transfers a ticket to a controlling VM of the same name from a later opening, because the key that signed the
         * ticket no longer exists.
         */
        private void takeOver(GroupCommitter.Context records, TicketRow row, long controllerEpoch)
                throws RelayDatabaseException, TicketRefusedException {
            TicketRuntimeState ticket = openTickets.find(id());
            CertifiedIdentity signer = signed.signer();
            if (ticket == null
                    || !signer.name().toString().equals(row.request().signer())
                    || ticket.signer
                            .filter(before -> before.key().equals(signer.key()))
                            .isPresent()) {
                return;
            }
            long before = TicketRecords.controllerEpoch(
                    records.transaction().tickets().envelope(id()).orElseThrow());
            if (controllerEpoch <= before) {
                throw new TicketRefusedException(
                        TicketClause.SEQUENCE,
                        signed.subject(),
                        "a controlling VM of an epoch after " + before,
                        Long.toString(controllerEpoch),
                        "another controlling VM of the same or a later opening has this ticket; use that one");
            }
            if (!budget.hasForTakeOver(signed.project(), clock.instant())) {
                throw overAuditBudget(AuditBudget.TAKE_OVER);
            }
            if (records.transaction()
                    .tickets()
                    .replaceEnvelope(id(), envelope.toByteArray(), TicketRecords.encodeChain(chain))) {
                records.event(event("taken-over").with(AuditField.EPOCH, controllerEpoch));
                budget.charge(signed.project(), AuditBudget.TAKE_OVER, clock.instant());
                records.onCommitted(() -> ticket.signer = Optional.of(signer));
            }
        }

        private TicketRefusedException idUsed() {
            return new TicketRefusedException(
                    TicketClause.USED,
                    signed.subject(),
                    "an id that was never used",
                    "one of another request",
                    "sign a new one");
        }

        private void admit(GroupCommitter.Context records) throws RelayDatabaseException, TicketRefusedException {
            ProjectApproval approval = requireWorking(records.transaction());
            RelayTransaction transaction = records.transaction();
            Instant now = clock.instant();
            check(transaction.tickets(), approval, now);
            long cost = AuditBudget.cost(1, signed.request().nodes());
            if (!budget.hasForWork(signed.project(), cost, now)) {
                throw overAuditBudget(cost);
            }
            NetworkLease lease = record(transaction, approval, now);
            budget.charge(signed.project(), cost, now);
            transaction.tickets().recordSubmission(id(), now);
            records.event(accepted(approval, lease));
            TicketRow row = transaction.tickets().byId(id()).orElseThrow();
            RelayTicketMessage.Update update = updates.update(transaction, row);
            records.onCommitted(() -> jobTracker.track(row, signed.signer()));
            if (row.isOpening()) {
                supersede(records);
            }
            records.onAudited(() -> {
                (row.isOpening() ? metrics.opened : metrics.accepted).inc();
                peer.answer(update);
                jobTracker.submit(id());
            });
        }

        private void check(TicketTable tickets, ProjectApproval approval, Instant now)
                throws RelayDatabaseException, TicketRefusedException {
            String project = signed.project();
            if (signed instanceof SignedTicket ticket) {
                TicketPosition newest = tickets.highest(project).orElse(TicketPosition.NONE);
                TicketVerifier.require(ticket, newest, approval, tickets.usage(project), now);
            } else if (signed instanceof SignedOpening opening) {
                // Open openings end before this one runs.
                QuotaUsage besides = tickets.usageOfTickets(project);
                TicketVerifier.require(opening, tickets.highestOpening(project), approval, besides, now);
            }
        }

        /** Stops the project's earlier openings. After a restart they are found by their epochs. */
        private void supersede(GroupCommitter.Context records) throws RelayDatabaseException {
            for (TicketRow each : records.transaction().tickets().openOpenings(signed.project())) {
                if (!each.id().equals(id())) {
                    records.onCommitted(() -> jobTracker.supersede(each));
                }
            }
        }

        private ProjectApproval requireWorking(RelayTransaction transaction)
                throws RelayDatabaseException, TicketRefusedException {
            String subject = signed.subject();
            if (!jobTracker.hasSlurm()) {
                throw new TicketRefusedException(
                        TicketClause.NO_SLURM,
                        subject,
                        "a relay with a Global Slurm",
                        "one without",
                        "have its operator configure [slurm], or ask another relay");
            }
            if (signed instanceof SignedOpening && !jobTracker.hasControllers()) {
                throw new TicketRefusedException(
                        TicketClause.NO_SLURM,
                        subject,
                        "a relay with a partition for controlling VMs",
                        "one without",
                        "have its operator configure slurm.controllers, or ask another relay");
            }
            if (transaction.marks().get(TicketCommands.DRAINING).isPresent()) {
                throw new TicketRefusedException(
                        TicketClause.DRAINING,
                        subject,
                        "a relay that accepts new work",
                        "one that is draining",
                        "wait, or ask its operator (agentctl relay drain --undo)");
            }
            if (!log.isWritable()) {
                throw new TicketRefusedException(
                        TicketClause.AUDIT,
                        subject,
                        "an audit log that can be written",
                        "one that cannot",
                        "wait; the relay's log shows why");
            }
            if (!auditSpace.isAmple()) {
                throw new TicketRefusedException(
                        TicketClause.AUDIT,
                        subject,
                        "more than " + auditSpace.reserveBytes() + " bytes free where the relay keeps its audit log",
                        Long.toString(auditSpace.freeBytes().getAsLong()),
                        "wait, or have the relay's operator free space (docs/operations.md, The audit log)");
            }
            return documents
                    .approval(signed.project())
                    .orElseThrow(() -> new TicketRefusedException(
                            TicketClause.PROJECT,
                            subject,
                            "a project that the site approves now",
                            signed.project(),
                            "have the site approve it"));
        }

        private TicketRefusedException overAuditBudget(long cost) {
            return new TicketRefusedException(
                    TicketClause.AUDIT,
                    signed.subject(),
                    "at most " + budget.perDay() + " bytes of audit records a day of project " + signed.project(),
                    budget.used(signed.project(), clock.instant()) + ", and " + cost + " for this",
                    "wait until midnight UTC; accepted work continues");
        }

        private NetworkLease record(RelayTransaction transaction, ProjectApproval approval, Instant now)
                throws RelayDatabaseException, TicketRefusedException {
            ResourceRequest resources = signed.request();
            TicketRequest request = new TicketRequest(
                    id(),
                    signed.project(),
                    signed.signer().name().toString(),
                    signed.digest(),
                    new TicketPosition(
                            signed.epoch(),
                            signed instanceof SignedTicket it ? it.ticket().sequence() : 0),
                    resources.nodes(),
                    resources.cpusInAll(),
                    resources.memoryMibInAll(),
                    approval.account(),
                    now,
                    drive());
            try {
                return transaction.attempt(part -> {
                    part.tickets().insert(request, envelope.toByteArray(), TicketRecords.encodeChain(chain));
                    return request.isOpening()
                            ? part.numbers().allocateController(id(), request.project())
                            : part.numbers().allocate(id(), request.project(), resources.nodes());
                });
            } catch (StateConflictException e) {
                throw refusal(e);
            }
        }

        private Optional<String> drive() {
            return signed instanceof SignedOpening it ? Optional.of(it.opening().drive()) : Optional.empty();
        }

        private TicketRefusedException refusal(StateConflictException why) {
            if (why instanceof DuplicateTicketException) {
                return idUsed();
            }
            boolean old = why instanceof TicketSequenceException;
            return new TicketRefusedException(
                    old ? TicketClause.SEQUENCE : TicketClause.EXHAUSTED,
                    signed.subject(),
                    old ? "one after all earlier ones" : "free numbers",
                    String.valueOf(why.getMessage()),
                    old ? "sign a new one" : "wait for other tickets to end, or have the site configure more");
        }

        private AuditEvent accepted(ProjectApproval approval, NetworkLease lease) {
            ResourceRequest resources = signed.request();
            String signer = signed.signer().name().toString();
            AuditEvent event = event("accepted");
            if (signed instanceof SignedTicket ticket) {
                event = event.with(AuditField.CONTROLLER, signer)
                        .with(AuditField.SEQUENCE, ticket.ticket().sequence());
            } else if (signed instanceof SignedOpening opening) {
                event = event.with(AuditField.OPENER, signer)
                        .with(AuditField.DRIVE, opening.opening().drive());
            }
            return event.with(
                            AuditField.DIGEST, BinaryText.base32(signed.digest().bytes()))
                    .with(AuditField.EPOCH, signed.epoch())
                    .with(AuditField.ACCOUNT, approval.account())
                    .with(AuditField.NODES, resources.nodes())
                    .with(AuditField.CPUS, resources.cpusInAll())
                    .with(AuditField.MEMORY_MIB, resources.memoryMibInAll())
                    .with(AuditField.MINUTES, resources.minutes())
                    .with(AuditField.VLAN, lease.vlan());
        }

        private AuditEvent event(String what) {
            return AuditEvent.of(clock.instant(), (signed instanceof SignedOpening ? "opening." : "ticket.") + what)
                    .by(signed.signer().key().id())
                    .with(AuditField.PROJECT, signed.project())
                    .with(AuditField.TICKET, id());
        }

        /**
         * Counts the refusal, which is recorded with the others of its minute: a peer with a valid key must not fill
         * the disk with refusals.
         */
        private void refuse(GroupCommitter.Context records, TicketRefusedException why) {
            boolean opening = signed instanceof SignedOpening;
            RefusalCounts.Key key = new RefusalCounts.Key(
                    opening ? "opening.refused" : "ticket.refused", signed.project(), why.clause());
            records.onCommitted(() -> {
                refusals.add(key, signed.signer().key().id(), id(), clock.instant());
                metrics.countRefusal(opening ? metrics.notOpened : metrics.refused, why.clause());
                peer.answer(RefusalMessages.of(id(), why));
            });
        }

        @Override
        public void onFailure() {
            peer.answer(RefusalMessages.unavailable(id()));
        }
    }
}
