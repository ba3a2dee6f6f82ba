package org.cloister.host.receipts;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.cloister.base.encoding.Digest;
import org.cloister.host.reconcile.ReconcileAction;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.resources.ErasureListener;
import org.cloister.host.resources.VmPlan;
import org.cloister.host.scratch.ScratchFileErasure;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.policy.VmRole;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Signs and stores this host's statements for receipts; docs/protocol.md, section 15. For each worker VM that is about
 * to run it records facts as they become known, signs them once, and keeps the statement until a relay has it. Changes
 * are on disk before a call returns. It records nothing of controlling VMs, which are in no ticket's receipt, nor of
 * VMs that never ran, which receipts do not mention. Any thread may call.
 */
public final class HostStatements implements ErasureListener {
    private static final Logger LOG = LoggerFactory.getLogger(HostStatements.class);
    /** Maximum of histories: a ledger has fewer entries, and as many may wait for a relay. */
    private static final int MAX_HISTORIES = 8192;

    private static final int MAX_SIGNED = 4096;
    /** Time after which an unreported statement is deleted: it is not requested that late. */
    private static final Duration RETENTION = Duration.ofDays(30);
    /**
     * Time after which a statement is signed without the removal: a project does not wait longer for a host that cannot
     * clean up.
     */
    private static final Duration REMOVAL_TIMEOUT = Duration.ofHours(1);

    /** Stores VM histories. Each is complete, in its previous or its new version, whenever the process ends. */
    interface VmHistoryStore {
        /**
         * Returns all histories.
         *
         * @throws IOException if one cannot be read, or is malformed
         */
        List<VmHistory> all() throws IOException;

        /** Writes a history, replacing the VM's earlier one; it is on disk when this returns. */
        void put(VmHistory history) throws IOException;

        /** Deletes a history. No error if it does not exist; after a crash it may exist again. */
        void drop(VmHistory history) throws IOException;
    }

    private final VmHistoryStore stored;
    private final SigningKey key;
    private final InstantSource clock;
    /** Histories by UUID. They may be newer than the files, never older. */
    private final Map<String, VmHistory> histories = new TreeMap<>();

    HostStatements(VmHistoryStore stored, SigningKey key, InstantSource clock) throws IOException {
        this.stored = stored;
        this.key = key;
        this.clock = clock;
        stored.all().forEach(history -> histories.put(history.owner().uuid(), history));
    }

    /**
     * Opens the folder and reads its histories.
     *
     * @param folder for these files only; created beside the ledger if it does not exist
     * @param key the host's own
     */
    public static HostStatements open(Path folder, SigningKey key, InstantSource clock) throws IOException {
        Files.createDirectories(folder);
        return new HostStatements(new VmHistoryFolder(folder), key, clock);
    }

    /**
     * Statement that was signed and that, as far as is known, no relay has stored yet.
     *
     * @param vm its UUID
     */
    public record UnreportedStatement(String vm, String ticket, int slot, String envelope) {
        public byte[] statement() {
            return envelope.getBytes(StandardCharsets.US_ASCII);
        }
    }

    /**
     * Records that the VM is about to be resumed; called before the ledger has that step.
     *
     * @param ticket digest of its payload
     */
    public void recordStart(VmPlan plan, Digest ticket) throws IOException {
        recordStart(plan.owner(), plan.facts(), ticket);
    }

    synchronized void recordStart(ResourceOwner owner, VmFacts facts, Digest ticket) throws IOException {
        if (facts.role() != VmRole.WORKER) {
            return;
        }
        if (histories.size() >= MAX_HISTORIES) {
            throw new IOException("receipts: " + histories.size() + " VM histories wait for a relay, and at most "
                    + MAX_HISTORIES + " may; agentctl host status shows whether a relay is attached");
        }
        put(VmHistory.of(owner, facts, ticket, clock.instant()));
    }

    /**
     * Records the end of a VM whose process is known to be gone, with the reason from the ledger. The first record is
     * kept.
     */
    public synchronized void recordEnd(VmLedgerEntry entry) throws IOException {
        VmHistory history = open(entry.owner());
        if (history == null || entry.end().isEmpty()) {
            return;
        }
        VmTermination end = entry.end().get();
        if (!ReceiptOutcomes.ran(entry, end)) {
            delete(history);
            return;
        }
        VmHistory next = history.ended(clock.instant(), ReceiptOutcomes.of(end.why()));
        if (!next.equals(history)) {
            put(next);
        }
    }

    @Override
    public synchronized void onErased(ScratchFileErasure erasure) throws IOException {
        VmHistory history = open(erasure.owner());
        if (history != null) {
            put(history.erased(ReceiptOutcomes.of(erasure)));
        }
    }

    /**
     * Handles the end of a reconcile pass. A VM that the pass forgot is signed as removed; one that could not be
     * cleaned up within an hour as not removed. A failed write is retried at the next pass.
     *
     * @param done actions of the pass
     * @param clean whether every source answered and nothing failed: then a VM without a ledger entry has left nothing
     * @param ledger supplies its entries; read after the histories here
     */
    public synchronized void onPass(
            Collection<ReconcileAction> done, boolean clean, Supplier<? extends Collection<VmLedgerEntry>> ledger) {
        Set<ResourceOwner> forgotten = done.stream()
                .filter(ReconcileAction.ForgetVm.class::isInstance)
                .map(ReconcileAction::owner)
                .collect(Collectors.toSet());
        List<VmHistory> open = histories.values().stream()
                .filter(history -> !history.isSigned())
                .toList();
        Set<ResourceOwner> there =
                ledger.get().stream().map(VmLedgerEntry::owner).collect(Collectors.toSet());
        Instant now = clock.instant();
        for (VmHistory history : open) {
            try {
                if (forgotten.contains(history.owner()) || (clean && !there.contains(history.owner()))) {
                    put(history.signed(Optional.of(now), now, key));
                } else if (history.ended()
                        .filter(ended -> ended.at().plus(REMOVAL_TIMEOUT).isBefore(now))
                        .isPresent()) {
                    LOG.warn(
                            "signing the host statement of VM {} without its removal, which took too long",
                            history.owner().uuid());
                    put(history.signed(Optional.empty(), now, key));
                }
            } catch (IOException | GeneralSecurityException e) {
                LOG.error(
                        "the host statement of VM {} cannot be signed or written: {}",
                        history.owner().uuid(),
                        e.toString());
            }
        }
        deleteOld(now);
    }

    /** Returns the signed statements that were not reported, oldest first. */
    public synchronized List<UnreportedStatement> unreported() {
        return histories.values().stream()
                .filter(VmHistory::isSigned)
                .sorted(Comparator.comparing(HostStatements::signedAt))
                .map(history -> new UnreportedStatement(
                        history.owner().uuid(),
                        history.owner().ticket(),
                        history.owner().slot(),
                        history.signed().orElseThrow().envelope()))
                .toList();
    }

    /** Deletes the history of a VM whose statement a relay has on disk. */
    public synchronized void onReported(String vm) throws IOException {
        VmHistory history = histories.get(vm);
        if (history != null && history.isSigned()) {
            delete(history);
        }
    }

    private void deleteOld(Instant now) {
        List<VmHistory> signed = histories.values().stream()
                .filter(VmHistory::isSigned)
                .sorted(Comparator.comparing(HostStatements::signedAt))
                .toList();
        for (int i = 0; i < signed.size(); i++) {
            VmHistory history = signed.get(i);
            if (signed.size() - i > MAX_SIGNED
                    || signedAt(history).plus(RETENTION).isBefore(now)) {
                LOG.warn(
                        "deleting the host statement of VM {}, ticket {}: no relay accepted it in time",
                        history.owner().uuid(),
                        history.owner().ticket());
                try {
                    delete(history);
                } catch (IOException e) {
                    LOG.warn(
                            "the host statement of VM {} cannot be deleted: {}",
                            history.owner().uuid(),
                            e.toString());
                }
            }
        }
    }

    private static Instant signedAt(VmHistory history) {
        return history.signed().orElseThrow().at();
    }

    /** Returns the history of a VM that is not signed yet; null if there is none. */
    private @Nullable VmHistory open(ResourceOwner owner) {
        VmHistory history = histories.get(owner.uuid());
        return history == null || history.isSigned() || !history.owner().equals(owner) ? null : history;
    }

    private void put(VmHistory history) throws IOException {
        VmHistory before = histories.put(history.owner().uuid(), history);
        try {
            stored.put(history);
        } catch (IOException e) {
            if (before == null || history.isSigned()) {
                restore(history, before);
            }
            throw e;
        }
    }

    /** Restores the previous history after a failed write, so that no statement is sent that is not on disk. */
    private void restore(VmHistory history, @Nullable VmHistory before) {
        if (before == null) {
            histories.remove(history.owner().uuid());
        } else {
            histories.put(history.owner().uuid(), before);
        }
    }

    private void delete(VmHistory history) throws IOException {
        stored.drop(history);
        histories.remove(history.owner().uuid());
    }
}
