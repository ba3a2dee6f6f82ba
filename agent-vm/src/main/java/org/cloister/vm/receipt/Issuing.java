package org.cloister.vm.receipt;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.identity.WholeFile;
import org.cloister.protocol.receipt.Binary;
import org.cloister.protocol.receipt.Receipt;
import org.cloister.protocol.receipt.ReceiptSlot;
import org.cloister.protocol.ticket.TicketEnd;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * When a receipt is due, and how it is written: a ticket that has ended gets it when all who have a part of it have said it, or
 * have had their time. Not for several threads.
 */
final class Issuing {
    private static final Logger LOG = LoggerFactory.getLogger(Issuing.class);
    /** A host signs an hour after its VM's end at the latest. */
    private static final Duration LOST_HOST = Duration.ofHours(2);
    /** As long as hosts report and relays keep. */
    private static final Duration SILENT_HOST = Duration.ofDays(30);
    /** Of a slot of which this VM knows nothing: maybe nothing ran there, and nobody has a part. */
    private static final Duration EMPTY_SLOT = Duration.ofMinutes(10);

    private static final String READABLE = "rw-r--r--";

    private final Receipts.Self self;
    private final DraftFolder drafts;
    private final Path written;
    private final InstantSource clock;

    /** @param written where receipts are left, for everybody to read */
    Issuing(Receipts.Self self, DraftFolder drafts, Path written, InstantSource clock) {
        this.self = self;
        this.drafts = drafts;
        this.written = written;
        this.clock = clock;
    }

    /**
     * Writes it if it is due.
     *
     * @param newest head that a relay has shown
     */
    void settle(Draft draft, Optional<Head> newest) throws IOException {
        if (draft.end().isEmpty() || draft.relay().isEmpty()) {
            return;
        }
        Duration since = Duration.between(draft.end().get().time(), clock.instant());
        if (draft.allocation().isPresent()) {
            TicketEnd how = draft.end().get().how();
            boolean mayBeLost = how == TicketEnd.NODE_FAILED || how == TicketEnd.LOST;
            for (ReceiptSlot slot : slots(draft)) {
                Duration patience = slot.evidence().isEmpty() ? EMPTY_SLOT : mayBeLost ? LOST_HOST : SILENT_HOST;
                if (slot.part().isEmpty() && since.compareTo(patience) < 0) {
                    return;
                }
            }
        }
        write(draft, newest);
    }

    private List<ReceiptSlot> slots(Draft draft) throws IOException {
        List<ReceiptSlot> slots = new ArrayList<>();
        int count = draft.allocated().slots().size();
        for (int slot = 0; slot < count; slot++) {
            slots.add(drafts.slot(draft.ticket(), slot));
        }
        return slots;
    }

    /** Now, whoever has a part of it still. */
    void write(Draft draft, Optional<Head> newest) throws IOException {
        // Whoever signed the allocation must have signed the head.
        Optional<Head> now = newest.filter(head -> draft.allocation().isEmpty() || head.isOf(draft.relay()));
        List<ReceiptSlot> slots = draft.allocation().isPresent() ? slots(draft) : List.of();
        Draft.End end = draft.end().orElseThrow();
        Instant issued = clock.instant();
        Receipt receipt = new Receipt(
                self.project(),
                draft.ticket(),
                draft.digest(),
                draft.request(),
                draft.epoch() == self.epoch() ? List.of() : draft.signer(),
                Binary.all(self.chain().get()),
                now.map(Head::chain).orElse(draft.relay()),
                draft.job() == 0 ? Optional.empty() : Optional.of(draft.job()),
                draft.allocation(),
                slots,
                draft.policy(),
                end.how(),
                end.time(),
                issued,
                now.map(Head::envelope).or(draft::audit).orElseThrow(),
                self.documents().size() <= Receipt.MAX_DOCUMENTS ? Binary.all(self.documents()) : List.of());
        Path file = written.resolve(draft.ticket() + ".json");
        WholeFile.replace(file, signed(receipt));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(READABLE));
        drafts.remove(draft.ticket());
        say(draft, slots);
    }

    private byte[] signed(Receipt receipt) throws IOException {
        try {
            return receipt.sign(self.key()).bytes();
        } catch (GeneralSecurityException e) {
            throw new IOException("receipt of " + receipt.ticket() + ": cannot be signed: " + e.getMessage(), e);
        }
    }

    private static void say(Draft draft, List<ReceiptSlot> slots) {
        List<Integer> silent = slots.stream()
                .filter(slot -> slot.handOver().isPresent() && slot.worker().isEmpty())
                .map(ReceiptSlot::slot)
                .toList();
        if (silent.isEmpty()) {
            LOG.info("receipt of {}: written", draft.ticket());
        } else {
            LOG.warn("receipt of {}: written; workers that ended without their part: slots {}", draft.ticket(), silent);
        }
    }
}
