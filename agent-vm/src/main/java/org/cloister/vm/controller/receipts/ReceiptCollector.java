package org.cloister.vm.controller.receipts;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.cloister.audit.AuditWitness;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.protocol.receipt.HostStatement;
import org.cloister.protocol.receipt.ReceiptBytes;
import org.cloister.protocol.receipt.ReceiptSlot;
import org.cloister.protocol.receipt.WorkerStatement;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.AllocationVerifier;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.vm.controller.admission.HandoverRecorder;
import org.cloister.vm.controller.tickets.SiteTrust;
import org.cloister.vm.controller.tickets.TicketRecorder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects the parts of receipts: the controlling VM's own, the workers' and, through the relay, the hosts'. Each part
 * is verified on arrival and kept on the drive until the ticket's receipt is written. Thread-safe: hand-overs are
 * recorded by another thread than all other parts.
 */
public final class ReceiptCollector implements TicketRecorder, HandoverRecorder {
    private static final Logger LOG = LoggerFactory.getLogger(ReceiptCollector.class);

    private final ReceiptSigner signer;
    private final Supplier<Optional<SiteTrust.TrustedRelay>> relay;
    private final ReceiptDraftFolder drafts;
    private final ReceiptIssuer issuer;
    private final InstantSource clock;
    private Optional<VerifiedAuditHead> newestHead = Optional.empty();

    /**
     * Signer of receipts.
     *
     * @param epoch of this start
     * @param chain current certificate chain in DER, leaf first
     * @param documents the project's documents
     */
    public record ReceiptSigner(
            String project, long epoch, SigningKey key, Supplier<List<byte[]>> chain, List<byte[]> documents) {
        public ReceiptSigner {
            documents = List.copyOf(documents);
        }
    }

    private ReceiptCollector(
            ReceiptSigner signer,
            Supplier<Optional<SiteTrust.TrustedRelay>> relay,
            ReceiptDraftFolder drafts,
            Path written,
            InstantSource clock) {
        this.signer = signer;
        this.relay = relay;
        this.drafts = drafts;
        this.issuer = new ReceiptIssuer(signer, drafts, written, clock);
        this.clock = clock;
    }

    /**
     * Continues with what an earlier start has collected.
     *
     * @param relay the relay that has shown its certificates; empty while none is trusted
     * @param drafts folder of this class, created if absent
     * @param written folder of finished receipts, readable by all
     */
    public static ReceiptCollector open(
            ReceiptSigner signer,
            Supplier<Optional<SiteTrust.TrustedRelay>> relay,
            Path drafts,
            Path written,
            InstantSource clock)
            throws IOException {
        Files.createDirectories(written);
        return new ReceiptCollector(signer, relay, ReceiptDraftFolder.open(drafts), written, clock);
    }

    @Override
    public synchronized void recordSubmission(Ticket ticket, byte[] envelope) throws IOException {
        Optional<ReceiptDraft> known = drafts.find(ticket.id());
        if (known.isEmpty() || !known.get().digest().equals(Digest.sha256(ticket.payload()))) {
            drafts.write(ReceiptDraft.start(ticket, envelope, signer.chain().get()));
        }
    }

    @Override
    public synchronized void recordUpdate(RelayTicketMessage.Update update) throws IOException {
        Optional<ReceiptDraft> known = drafts.find(update.ticket());
        if (known.isEmpty()) {
            return;
        }
        ReceiptDraft before = known.get();
        Optional<SiteTrust.TrustedRelay> from = relay.get();
        from.ifPresent(trusted -> recordHead(trusted, update.head()));
        ReceiptDraft draft = before;
        if (update.job() != 0 && before.allocation().isEmpty()) {
            draft = draft.withJob(update.job());
        }
        if (draft.relay().isEmpty() && newestHead.isPresent()) {
            draft = draft.withRelay(newestHead.get().chain(), newestHead.get().envelope());
        }
        if (from.isPresent()
                && draft.allocation().isEmpty()
                && !update.allocation().isEmpty()) {
            draft = withVerifiedAllocation(
                    draft, from.get(), update.allocation().toByteArray());
        }
        if (update.state() == TicketState.ENDED && draft.end().isEmpty()) {
            draft = draft.withEnd(new ReceiptDraft.End(update.end().orElseThrow(), clock.instant()));
        }
        if (!draft.equals(before)) {
            drafts.write(draft);
        }
        issuer.issueIfDue(draft, newestHead);
    }

    private void recordHead(SiteTrust.TrustedRelay from, ByteString head) {
        try {
            VerifiedAuditHead verifiedHead = VerifiedAuditHead.verify(from, head);
            Optional<AuditWitness.Alarm> alarm =
                    newestHead.flatMap(before -> AuditWitness.alarm(before.head(), verifiedHead.head()));
            alarm.ifPresent(each -> LOG.warn("relay: {}", each.text()));
            // The relay that signs allocations now may not have signed the head of another log.
            if (alarm.isEmpty() || alarm.get().reason() == AuditWitness.Reason.OTHER_LOG) {
                newestHead = Optional.of(verifiedHead);
            }
        } catch (IOException e) {
            LOG.warn("relay: audit head: {}", e.getMessage());
        }
    }

    private ReceiptDraft withVerifiedAllocation(ReceiptDraft draft, SiteTrust.TrustedRelay from, byte[] envelope) {
        try {
            Allocation allocation = AllocationVerifier.read(envelope, from.identity());
            if (!allocation.ticket().equals(draft.ticket())
                    || !allocation.digest().equals(draft.digest())) {
                throw new MalformedException("allocation: want that of " + draft.ticket() + ", " + draft.digest()
                        + ", have that of " + allocation.ticket() + ", " + allocation.digest());
            }
            ReceiptDraft extended =
                    draft.withAllocation(ReceiptBytes.of(envelope)).withJob(allocation.globalJob());
            return newestHead
                    .map(head -> extended.withRelay(head.chain(), head.envelope()))
                    .orElse(extended);
        } catch (IOException e) {
            LOG.warn("receipt of {}: {}", draft.ticket(), e.getMessage());
            return draft;
        }
    }

    @Override
    public synchronized void recordHostStatement(RelayTicketMessage.ForwardedStatement part) throws IOException {
        Optional<ReceiptDraft> known = drafts.find(part.ticket());
        if (known.isEmpty() || known.get().allocation().isEmpty()) {
            return;
        }
        Allocation allocation = known.get().parseAllocation();
        ReceiptSlot slot = part.slot() < allocation.slots().size()
                ? drafts.slot(part.ticket(), part.slot())
                : ReceiptSlot.empty(part.slot());
        if (part.slot() >= allocation.slots().size() || slot.hostStatement().isPresent()) {
            return;
        }
        byte[] envelope = part.statement().toByteArray();
        try {
            HostStatement statement = HostStatement.parse(DsseEnvelope.parse(envelope, HostStatement.MAX_BYTES)
                    .verify(
                            HostStatement.TYPE,
                            List.of(allocation.slots().get(part.slot()).key()),
                            1));
            requireSame(
                    "host statement",
                    statement.facts().ticket(),
                    statement.facts().slot(),
                    part.ticket(),
                    part.slot());
        } catch (IOException e) {
            LOG.warn("receipt of {}: slot {}: host statement refused: {}", part.ticket(), part.slot(), e.getMessage());
            return;
        }
        drafts.write(
                part.ticket(),
                slot.withHostStatement(envelope)
                        .withHost(part.chain().stream()
                                .map(ByteString::toByteArray)
                                .toList()));
        issuer.issueIfDue(known.get(), newestHead);
    }

    @Override
    public synchronized void recordHandover(HandoverTarget place, ByteString evidence, HandoverDocument handover)
            throws IOException {
        recordHandover(
                place.ticket(),
                place.slot(),
                evidence.toByteArray(),
                org.cloister.protocol.receipt.HandoverRecord.of(
                        handover.time(),
                        handover.certificates().stream()
                                .map(ByteString::toByteArray)
                                .toList(),
                        place.nonce()),
                handover.policy());
    }

    synchronized void recordHandover(
            String ticket,
            int slot,
            byte[] evidence,
            org.cloister.protocol.receipt.HandoverRecord handover,
            Digest policy)
            throws IOException {
        Optional<ReceiptDraft> known = drafts.find(ticket);
        if (known.isEmpty()) {
            LOG.warn("receipt of {}: there is no draft: an earlier start did not record the ticket", ticket);
            return;
        }
        drafts.write(ticket, drafts.slot(ticket, slot).withEvidence(evidence).withHandOver(handover));
        if (!known.get().policy().equals(Optional.of(policy))) {
            drafts.write(known.get().withPolicy(policy));
        }
    }

    @Override
    public synchronized void recordWorkerStatement(String ticket, int number, ByteString part) throws IOException {
        Optional<ReceiptDraft> known = drafts.find(ticket);
        if (known.isEmpty()) {
            return;
        }
        ReceiptSlot slot = drafts.slot(ticket, number);
        if (slot.evidence().isEmpty() || slot.workerStatement().isPresent()) {
            return;
        }
        byte[] envelope = part.toByteArray();
        EvidenceStatement evidence = EvidenceStatement.claimed(
                DsseEnvelope.parse(slot.evidence().get().bytes(), 2 * EvidenceStatement.MAX_BYTES));
        try {
            WorkerStatement statement = WorkerStatement.parse(DsseEnvelope.parse(envelope, WorkerStatement.MAX_BYTES)
                    .verify(
                            WorkerStatement.TYPE,
                            List.of(evidence.claim().keys().signing()),
                            1));
            requireSame("worker statement", statement.ticket(), statement.slot(), ticket, number);
        } catch (IOException e) {
            LOG.warn("receipt of {}: slot {}: worker statement refused: {}", ticket, number, e.getMessage());
            return;
        }
        drafts.write(ticket, slot.withWorkerStatement(envelope));
        issuer.issueIfDue(known.get(), newestHead);
    }

    private static void requireSame(String kind, String ticket, long slot, String wantTicket, int wantSlot)
            throws MalformedException {
        if (!ticket.equals(wantTicket) || slot != wantSlot) {
            throw new MalformedException(kind + ": want one of " + wantTicket + ", slot " + wantSlot + ", have one of "
                    + ticket + ", slot " + slot);
        }
    }

    @Override
    public synchronized void recordRejection(String ticket) throws IOException {
        drafts.remove(ticket);
    }

    @Override
    public synchronized void recordForgotten(String ticket) throws IOException {
        Optional<ReceiptDraft> known = drafts.find(ticket);
        if (known.isPresent() && known.get().allocation().isEmpty()) {
            drafts.remove(ticket);
        } else if (known.isPresent()) {
            // No relay has more information on it.
            ReceiptDraft draft = known.get();
            issuer.issue(
                    draft.end().isPresent()
                            ? draft
                            : draft.withEnd(new ReceiptDraft.End(TicketEnd.LOST, clock.instant())),
                    newestHead);
        }
    }

    @Override
    public synchronized List<String> awaitedTickets() {
        return drafts.all().stream()
                .filter(draft -> draft.end().isPresent())
                .map(ReceiptDraft::ticket)
                .toList();
    }

    /** Writes the receipts that are due; called periodically. */
    public synchronized void issueDue() {
        for (ReceiptDraft draft : drafts.all()) {
            try {
                issuer.issueIfDue(draft, newestHead);
            } catch (IOException | RuntimeException e) {
                LOG.error("receipt of {}: cannot be written: {}; retrying", draft.ticket(), e.toString());
            }
        }
    }
}
