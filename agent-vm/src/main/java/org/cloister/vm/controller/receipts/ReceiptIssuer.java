package org.cloister.vm.controller.receipts;

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
import org.cloister.base.file.AtomicFile;
import org.cloister.protocol.receipt.Receipt;
import org.cloister.protocol.receipt.ReceiptBytes;
import org.cloister.protocol.receipt.ReceiptSlot;
import org.cloister.protocol.ticket.TicketEnd;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides when a receipt is due, and writes it: a ticket that has ended gets its receipt when all parts have arrived,
 * or the time for them is over. Not thread-safe.
 */
final class ReceiptIssuer {
    private static final Logger LOG = LoggerFactory.getLogger(ReceiptIssuer.class);
    /** Time for a host that may have failed. A host signs at most an hour after its VM's end. */
    private static final Duration LOST_HOST_LIMIT = Duration.ofHours(2);
    /** Time for a silent host: as long as hosts report and relays keep statements. */
    private static final Duration SILENT_HOST_LIMIT = Duration.ofDays(30);
    /** Time for a slot about which this VM knows nothing: possibly nothing ran there, so that there is no part. */
    private static final Duration EMPTY_SLOT_LIMIT = Duration.ofMinutes(10);

    private static final String READABLE = "rw-r--r--";

    private final ReceiptCollector.ReceiptSigner signer;
    private final ReceiptDraftFolder drafts;
    private final Path receiptFolder;
    private final InstantSource clock;

    /** @param receiptFolder folder of finished receipts, readable by all */
    ReceiptIssuer(
            ReceiptCollector.ReceiptSigner signer, ReceiptDraftFolder drafts, Path receiptFolder, InstantSource clock) {
        this.signer = signer;
        this.drafts = drafts;
        this.receiptFolder = receiptFolder;
        this.clock = clock;
    }

    /**
     * Writes the receipt if it is due.
     *
     * @param newestHead head that a relay has shown
     */
    void issueIfDue(ReceiptDraft draft, Optional<VerifiedAuditHead> newestHead) throws IOException {
        if (draft.end().isEmpty() || draft.relay().isEmpty()) {
            return;
        }
        Duration since = Duration.between(draft.end().get().time(), clock.instant());
        if (draft.allocation().isPresent()) {
            TicketEnd how = draft.end().get().how();
            boolean mayBeLost = how == TicketEnd.NODE_FAILED || how == TicketEnd.LOST;
            for (ReceiptSlot slot : slots(draft)) {
                Duration limit =
                        slot.evidence().isEmpty() ? EMPTY_SLOT_LIMIT : mayBeLost ? LOST_HOST_LIMIT : SILENT_HOST_LIMIT;
                if (slot.hostStatement().isEmpty() && since.compareTo(limit) < 0) {
                    return;
                }
            }
        }
        issue(draft, newestHead);
    }

    private List<ReceiptSlot> slots(ReceiptDraft draft) throws IOException {
        List<ReceiptSlot> slots = new ArrayList<>();
        int count = draft.parseAllocation().slots().size();
        for (int slot = 0; slot < count; slot++) {
            slots.add(drafts.slot(draft.ticket(), slot));
        }
        return slots;
    }

    /** Writes the receipt now, even if parts are missing. */
    void issue(ReceiptDraft draft, Optional<VerifiedAuditHead> newestHead) throws IOException {
        // The signer of the allocation must have signed the head.
        Optional<VerifiedAuditHead> head =
                newestHead.filter(each -> draft.allocation().isEmpty() || each.isSignedBy(draft.relay()));
        List<ReceiptSlot> slots = draft.allocation().isPresent() ? slots(draft) : List.of();
        ReceiptDraft.End end = draft.end().orElseThrow();
        Instant issued = clock.instant();
        Receipt receipt = new Receipt(
                signer.project(),
                draft.ticket(),
                draft.digest(),
                draft.request(),
                draft.epoch() == signer.epoch() ? List.of() : draft.signer(),
                ReceiptBytes.all(signer.chain().get()),
                head.map(VerifiedAuditHead::chain).orElse(draft.relay()),
                draft.job() == 0 ? Optional.empty() : Optional.of(draft.job()),
                draft.allocation(),
                slots,
                draft.policy(),
                end.how(),
                end.time(),
                issued,
                head.map(VerifiedAuditHead::envelope).or(draft::audit).orElseThrow(),
                signer.documents().size() <= Receipt.MAX_DOCUMENTS ? ReceiptBytes.all(signer.documents()) : List.of());
        Path file = receiptFolder.resolve(draft.ticket() + ".json");
        AtomicFile.replace(file, signed(receipt));
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(READABLE));
        drafts.remove(draft.ticket());
        logIssue(draft, slots);
    }

    private byte[] signed(Receipt receipt) throws IOException {
        try {
            return receipt.sign(signer.key()).bytes();
        } catch (GeneralSecurityException e) {
            throw new IOException("receipt of " + receipt.ticket() + ": cannot be signed: " + e.getMessage(), e);
        }
    }

    private static void logIssue(ReceiptDraft draft, List<ReceiptSlot> slots) {
        List<Integer> withoutStatement = slots.stream()
                .filter(slot ->
                        slot.handOver().isPresent() && slot.workerStatement().isEmpty())
                .map(ReceiptSlot::slot)
                .toList();
        if (withoutStatement.isEmpty()) {
            LOG.info("receipt of {}: written", draft.ticket());
        } else {
            LOG.warn(
                    "receipt of {}: written without the worker statements of slots {}",
                    draft.ticket(),
                    withoutStatement);
        }
    }
}
