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
 * This host's parts of receipts; docs/protocol.md, section 15. Of each worker VM that is to run it keeps what it knows as it
 * becomes known, signs once, and keeps what it signed until a relay has it. On disk before a call returns. Controlling VMs
 * are in no ticket's receipt, and VMs that never ran have nothing in one: of them it keeps nothing. Any thread may call.
 */
public final class HostStatements implements ErasureListener {
    private static final Logger LOG = LoggerFactory.getLogger(HostStatements.class);
    /** A ledger has fewer entries, and as many may wait for a relay. */
    private static final int MAX_LIVES = 8192;

    private static final int MAX_SIGNED = 4096;
    /** What was not reported by then is asked for by nobody. */
    private static final Duration KEPT = Duration.ofDays(30);
    /** A project does not wait longer for a host that cannot clean up. */
    private static final Duration PATIENCE = Duration.ofHours(1);

    private final VmHistoryStore kept;
    private final SigningKey key;
    private final InstantSource clock;
    /** By UUID. What is here may be ahead of the disk, never behind it. */
    private final Map<String, VmHistory> lives = new TreeMap<>();

    HostStatements(VmHistoryStore kept, SigningKey key, InstantSource clock) throws IOException {
        this.kept = kept;
        this.key = key;
        this.clock = clock;
        kept.all().forEach(life -> lives.put(life.owner().uuid(), life));
    }

    /**
     * @param folder of these alone; made if it is not there, beside the ledger
     * @param key the host's own
     */
    public static HostStatements open(Path folder, SigningKey key, InstantSource clock) throws IOException {
        Files.createDirectories(folder);
        return new HostStatements(new VmHistoryFolder(folder), key, clock);
    }

    /**
     * A part that was signed and that no relay has yet, as far as is known.
     *
     * @param vm its UUID
     */
    public record UnreportedStatement(String vm, String ticket, int slot, String envelope) {
        public byte[] statement() {
            return envelope.getBytes(StandardCharsets.US_ASCII);
        }
    }

    /**
     * The VM is about to be resumed; before the ledger has that step.
     *
     * @param ticket the digest of its payload
     */
    public void recordStart(VmPlan plan, Digest ticket) throws IOException {
        recordStart(plan.owner(), plan.facts(), ticket);
    }

    synchronized void recordStart(ResourceOwner owner, VmFacts facts, Digest ticket) throws IOException {
        if (facts.role() != VmRole.WORKER) {
            return;
        }
        if (lives.size() >= MAX_LIVES) {
            throw new IOException("parts of receipts: want fewer than " + MAX_LIVES + ", have " + lives.size()
                    + "; see why no relay takes them");
        }
        put(VmHistory.of(owner, facts, ticket, clock.instant()));
    }

    /** Its process is known to be gone, and the ledger says why it ends. The first word stays. */
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
     * A round of the ledger is over. What it forgot is signed as removed; what could not be cleaned up after in an hour, as
     * not. What cannot be written waits for the next round.
     *
     * @param done in the round
     * @param clean whether every source answered, and nothing failed: then a VM without an entry has left nothing
     * @param ledger its entries; asked after what is known here
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
                            "VM {} is signed for without its removal",
                            life.owner().uuid());
                    put(life.signed(Optional.empty(), now, key));
                }
            } catch (IOException | GeneralSecurityException e) {
                LOG.error("part of the receipt of VM {}: {}", life.owner().uuid(), e.toString());
            }
        }
        forgetOld(now);
    }

    /** Oldest first. */
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

    /** A relay has it on disk. */
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
                        "part of the receipt of VM {}, ticket {}: no relay took it, and it is forgotten",
                        life.owner().uuid(),
                        life.owner().ticket());
                try {
                    drop(life);
                } catch (IOException e) {
                    LOG.warn("part of the receipt of VM {}: {}", life.owner().uuid(), e.toString());
                }
            }
        }
    }

    private static Instant signedAt(VmHistory life) {
        return life.signed().orElseThrow().at();
    }

    /** Of a VM that is not signed for; null if nothing is kept of it. */
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

    /** Nothing is said to others that is not on disk. */
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
