package org.cloister.vm.receipt;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.cloister.protocol.Digest;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.audit.HeadKeeper;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.Statement;
import org.cloister.protocol.handover.HandOver;
import org.cloister.protocol.handover.Place;
import org.cloister.protocol.receipt.Binary;
import org.cloister.protocol.receipt.HostPart;
import org.cloister.protocol.receipt.ReceiptSlot;
import org.cloister.protocol.receipt.WorkerPart;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.ClaimCheck;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.vm.handover.Lives;
import org.cloister.vm.ticket.Site;
import org.cloister.vm.ticket.Witness;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the parts of receipts meet: the controlling VM's own, the workers' and, by the relay, the hosts'. Each is looked at
 * when it comes and kept on the drive, until the ticket's receipt is written. Not for several threads.
 */
public final class Receipts implements Witness, Lives {
    private static final Logger LOG = LoggerFactory.getLogger(Receipts.class);

    private final Self self;
    private final Supplier<Optional<Site.Relay>> relay;
    private final DraftFolder drafts;
    private final Issuing issuing;
    private final InstantSource clock;
    private Optional<Head> newest = Optional.empty();

    /**
     * The receipts' signer.
     *
     * @param epoch of this start
     * @param chain of the day, in DER, the leaf first
     * @param documents the project's
     */
    public record Self(
            String project, long epoch, SigningKey key, Supplier<List<byte[]>> chain, List<byte[]> documents) {
        public Self {
            documents = List.copyOf(documents);
        }
    }

    private Receipts(
            Self self, Supplier<Optional<Site.Relay>> relay, DraftFolder drafts, Path written, InstantSource clock) {
        this.self = self;
        this.relay = relay;
        this.drafts = drafts;
        this.issuing = new Issuing(self, drafts, written, clock);
        this.clock = clock;
    }

    /**
     * Goes on with what an earlier start has collected.
     *
     * @param relay as it has shown itself; empty while there is none that is believed
     * @param drafts a folder of ours, made if it is not there
     * @param written where receipts are left, for everybody to read
     */
    public static Receipts open(
            Self self, Supplier<Optional<Site.Relay>> relay, Path drafts, Path written, InstantSource clock)
            throws IOException {
        Files.createDirectories(written);
        return new Receipts(self, relay, DraftFolder.open(drafts), written, clock);
    }

    @Override
    public void ordered(Ticket ticket, byte[] envelope) throws IOException {
        Optional<Draft> known = drafts.find(ticket.id());
        if (known.isEmpty() || !known.get().digest().equals(Digest.sha256(ticket.payload()))) {
            drafts.write(Draft.begun(ticket, envelope, self.chain().get()));
        }
    }

    @Override
    public void stands(OfficeMessage.Update update) throws IOException {
        Optional<Draft> known = drafts.find(update.ticket());
        if (known.isEmpty()) {
            return;
        }
        Draft before = known.get();
        Optional<Site.Relay> from = relay.get();
        from.ifPresent(shown -> witness(shown, update.head()));
        Draft draft = before;
        if (update.job() != 0 && before.allocation().isEmpty()) {
            draft = draft.withJob(update.job());
        }
        if (draft.relay().isEmpty() && newest.isPresent()) {
            draft = draft.withRelay(newest.get().chain(), newest.get().envelope());
        }
        if (from.isPresent()
                && draft.allocation().isEmpty()
                && !update.allocation().isEmpty()) {
            draft = allocated(draft, from.get(), update.allocation().toByteArray());
        }
        if (update.state() == TicketState.ENDED && draft.end().isEmpty()) {
            draft = draft.ended(new Draft.End(update.end().orElseThrow(), clock.instant()));
        }
        if (!draft.equals(before)) {
            drafts.write(draft);
        }
        issuing.settle(draft, newest);
    }

    private void witness(Site.Relay from, ByteString head) {
        try {
            Head shown = Head.verify(from, head);
            Optional<HeadKeeper.Alarm> alarm = newest.flatMap(before -> HeadKeeper.alarm(before.said(), shown.said()));
            alarm.ifPresent(each -> LOG.warn("relay: {}", each.text()));
            // Whoever signs allocations now may not have signed the head of another log.
            if (alarm.isEmpty() || alarm.get().reason() == HeadKeeper.Reason.OTHER_LOG) {
                newest = Optional.of(shown);
            }
        } catch (IOException e) {
            LOG.warn("relay: audit head: {}", e.getMessage());
        }
    }

    private Draft allocated(Draft draft, Site.Relay from, byte[] envelope) {
        try {
            Allocation given = ClaimCheck.read(envelope, from.identity());
            if (!given.ticket().equals(draft.ticket()) || !given.digest().equals(draft.digest())) {
                throw new MalformedException("allocation: want that of " + draft.ticket() + ", " + draft.digest()
                        + ", have that of " + given.ticket() + ", " + given.digest());
            }
            Draft with = draft.withAllocation(Binary.of(envelope)).withJob(given.globalJob());
            return newest.map(head -> with.withRelay(head.chain(), head.envelope()))
                    .orElse(with);
        } catch (IOException e) {
            LOG.warn("receipt of {}: {}", draft.ticket(), e.getMessage());
            return draft;
        }
    }

    @Override
    public void part(OfficeMessage.Part part) throws IOException {
        Optional<Draft> known = drafts.find(part.ticket());
        if (known.isEmpty() || known.get().allocation().isEmpty()) {
            return;
        }
        Allocation allocation = known.get().allocated();
        ReceiptSlot slot = part.slot() < allocation.slots().size()
                ? drafts.slot(part.ticket(), part.slot())
                : ReceiptSlot.empty(part.slot());
        if (part.slot() >= allocation.slots().size() || slot.part().isPresent()) {
            return;
        }
        byte[] envelope = part.statement().toByteArray();
        try {
            HostPart said = HostPart.parse(Envelope.parse(envelope, HostPart.MAX_BYTES)
                    .verify(
                            HostPart.TYPE,
                            List.of(allocation.slots().get(part.slot()).key()),
                            1));
            requireSame("host's part", said.facts().ticket(), said.facts().slot(), part.ticket(), part.slot());
        } catch (IOException e) {
            LOG.warn("receipt of {}: slot {}: host's part refused: {}", part.ticket(), part.slot(), e.getMessage());
            return;
        }
        drafts.write(
                part.ticket(),
                slot.withPart(envelope)
                        .withHost(part.chain().stream()
                                .map(ByteString::toByteArray)
                                .toList()));
        issuing.settle(known.get(), newest);
    }

    @Override
    public void gave(Place place, ByteString evidence, HandOver given) throws IOException {
        gave(
                place.ticket(),
                place.slot(),
                evidence.toByteArray(),
                org.cloister.protocol.receipt.HandOver.of(
                        given.time(),
                        given.certificates().stream()
                                .map(ByteString::toByteArray)
                                .toList(),
                        place.nonce()),
                given.policy());
    }

    void gave(String ticket, int slot, byte[] evidence, org.cloister.protocol.receipt.HandOver made, Digest policy)
            throws IOException {
        Optional<Draft> known = drafts.find(ticket);
        if (known.isEmpty()) {
            LOG.warn("receipt of {}: none: the ticket is of a start that kept no receipts", ticket);
            return;
        }
        drafts.write(ticket, drafts.slot(ticket, slot).withEvidence(evidence).withHandOver(made));
        if (!known.get().policy().equals(Optional.of(policy))) {
            drafts.write(known.get().under(policy));
        }
    }

    @Override
    public void ended(String ticket, int number, ByteString part) throws IOException {
        Optional<Draft> known = drafts.find(ticket);
        if (known.isEmpty()) {
            return;
        }
        ReceiptSlot slot = drafts.slot(ticket, number);
        if (slot.evidence().isEmpty() || slot.worker().isPresent()) {
            return;
        }
        byte[] envelope = part.toByteArray();
        Statement statement =
                Statement.claimed(Envelope.parse(slot.evidence().get().bytes(), 2 * Statement.MAX_BYTES));
        try {
            WorkerPart said = WorkerPart.parse(Envelope.parse(envelope, WorkerPart.MAX_BYTES)
                    .verify(WorkerPart.TYPE, List.of(statement.claim().keys().signing()), 1));
            requireSame("worker's part", said.ticket(), said.slot(), ticket, number);
        } catch (IOException e) {
            LOG.warn("receipt of {}: slot {}: worker's part refused: {}", ticket, number, e.getMessage());
            return;
        }
        drafts.write(ticket, slot.withWorker(envelope));
        issuing.settle(known.get(), newest);
    }

    private static void requireSame(String what, String ticket, long slot, String wantTicket, int wantSlot)
            throws MalformedException {
        if (!ticket.equals(wantTicket) || slot != wantSlot) {
            throw new MalformedException(what + ": want one of " + wantTicket + ", slot " + wantSlot + ", have one of "
                    + ticket + ", slot " + slot);
        }
    }

    @Override
    public void dropped(String ticket) throws IOException {
        drafts.remove(ticket);
    }

    @Override
    public void forgotten(String ticket) throws IOException {
        Optional<Draft> known = drafts.find(ticket);
        if (known.isPresent() && known.get().allocation().isEmpty()) {
            drafts.remove(ticket);
        } else if (known.isPresent()) {
            // No relay has more to say of it.
            Draft draft = known.get();
            issuing.write(
                    draft.end().isPresent() ? draft : draft.ended(new Draft.End(TicketEnd.LOST, clock.instant())),
                    newest);
        }
    }

    @Override
    public List<String> awaited() {
        return drafts.all().stream()
                .filter(draft -> draft.end().isPresent())
                .map(Draft::ticket)
                .toList();
    }

    /** Writes receipts of those who have waited for long enough; to be called now and then. */
    public void look() {
        for (Draft draft : drafts.all()) {
            try {
                issuing.settle(draft, newest);
            } catch (IOException | RuntimeException e) {
                LOG.error("receipt of {}: not written, and tried again: {}", draft.ticket(), e.toString());
            }
        }
    }
}
