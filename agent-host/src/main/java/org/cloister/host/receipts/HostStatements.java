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
    private static final int MAX_LIVES = 8192;

    private static final int MAX_SIGNED = 4096;
    /** Time after which an unreported statement is deleted: it is not requested that late. */
    private static final Duration KEPT = Duration.ofDays(30);
    /**
     * Time after which a statement is signed without the removal: a project does not wait longer for a host that cannot
     * clean up.
     */
    private static final Duration PATIENCE = Duration.ofHours(1);

    private final VmHistoryStore kept;
    private final SigningKey key;
    private final InstantSource clock;
    /** Histories by UUID. They may be newer than the files, never older. */
    private final Map<String, VmHistory> lives = new TreeMap<>();

    HostStatements(VmHistoryStore kept, SigningKey key, InstantSource clock) throws IOException {
        this.kept = kept;
        this.key = key;
        this.clock = clock;
        kept.all().forEach(life -> lives.put(life.owner().uuid(), life));
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
        if (lives.size() >= MAX_LIVES) {
            throw new IOException("receipts: " + lives.size() + " VM histories wait for a relay, and at most "
                    + MAX_LIVES + " may; agentctl host status shows whether a relay is attached");
        }
        put(VmHistory.of(owner, facts, ticket, clock.instant()));
    }

    /**
     * Records the end of a VM whose process is known to be gone, with the reason from the ledger. The first record is
     * kept.
     */
    public synchronized void recordEnd(VmLedgerEntry entry) throws IOException {
        VmHistory life = open(entry.owner());
        if (life == null || entry.end().isEmpty()) {
            return;
        }
        VmTermination end = entry.end().get();
        if (!ReceiptOutcomes.ran(entry, end)) {
            drop(life);
            return;
        }
        VmHistory next = life.ended(clock.instant(), ReceiptOutcomes.of(end.why()));
        if (!next.equals(life)) {
            put(next);
        }
    }

    @Override
    public synchronized void onErased(ScratchFileErasure erasure) throws IOException {
        VmHistory life = open(erasure.owner());
        if (life != null) {
            put(life.erased(ReceiptOutcomes.of(erasure)));
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
        List<VmHistory> open =
                lives.values().stream().filter(life -> !life.isSigned()).toList();
        Set<ResourceOwner> there =
                ledger.get().stream().map(VmLedgerEntry::owner).collect(Collectors.toSet());
        Instant now = clock.instant();
        for (VmHistory life : open) {
            try {
                if (forgotten.contains(life.owner()) || (clean && !there.contains(life.owner()))) {
                    put(life.signed(Optional.of(now), now, key));
                } else if (life.ended()
                        .filter(ended -> ended.at().plus(PATIENCE).isBefore(now))
                        .isPresent()) {
                    LOG.warn(
                            "signing the host statement of VM {} without its removal, which took too long",
                            life.owner().uuid());
                    put(life.signed(Optional.empty(), now, key));
                }
            } catch (IOException | GeneralSecurityException e) {
                LOG.error(
                        "the host statement of VM {} cannot be signed or written: {}",
                        life.owner().uuid(),
                        e.toString());
            }
        }
        forgetOld(now);
    }

    /** Returns the signed statements that were not reported, oldest first. */
    public synchronized List<UnreportedStatement> unreported() {
        return lives.values().stream()
                .filter(VmHistory::isSigned)
                .sorted(Comparator.comparing(HostStatements::signedAt))
                .map(life -> new UnreportedStatement(
                        life.owner().uuid(),
                        life.owner().ticket(),
                        life.owner().slot(),
                        life.signed().orElseThrow().envelope()))
                .toList();
    }

    /** Deletes the history of a VM whose statement a relay has on disk. */
    public synchronized void onReported(String vm) throws IOException {
        VmHistory life = lives.get(vm);
        if (life != null && life.isSigned()) {
            drop(life);
        }
    }

    private void forgetOld(Instant now) {
        List<VmHistory> signed = lives.values().stream()
                .filter(VmHistory::isSigned)
                .sorted(Comparator.comparing(HostStatements::signedAt))
                .toList();
        for (int i = 0; i < signed.size(); i++) {
            VmHistory life = signed.get(i);
            if (signed.size() - i > MAX_SIGNED || signedAt(life).plus(KEPT).isBefore(now)) {
                LOG.warn(
                        "deleting the host statement of VM {}, ticket {}: no relay accepted it in time",
                        life.owner().uuid(),
                        life.owner().ticket());
                try {
                    drop(life);
                } catch (IOException e) {
                    LOG.warn(
                            "the host statement of VM {} cannot be deleted: {}",
                            life.owner().uuid(),
                            e.toString());
                }
            }
        }
    }

    private static Instant signedAt(VmHistory life) {
        return life.signed().orElseThrow().at();
    }

    /** Returns the history of a VM that is not signed yet; null if there is none. */
    private @Nullable VmHistory open(ResourceOwner owner) {
        VmHistory life = lives.get(owner.uuid());
        return life == null || life.isSigned() || !life.owner().equals(owner) ? null : life;
    }

    private void put(VmHistory life) throws IOException {
        VmHistory before = lives.put(life.owner().uuid(), life);
        try {
            kept.put(life);
        } catch (IOException e) {
            if (before == null || life.isSigned()) {
                restore(life, before);
            }
            throw e;
        }
    }

    /** Restores the previous history after a failed write, so that no statement is sent that is not on disk. */
    private void restore(VmHistory life, @Nullable VmHistory before) {
        if (before == null) {
            lives.remove(life.owner().uuid());
        } else {
            lives.put(life.owner().uuid(), before);
        }
    }

    private void drop(VmHistory life) throws IOException {
        kept.drop(life);
        lives.remove(life.owner().uuid());
    }
}
