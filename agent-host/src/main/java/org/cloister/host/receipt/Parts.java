package org.cloister.host.receipt;

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
import org.cloister.host.disk.Erasure;
import org.cloister.host.ledger.Action;
import org.cloister.host.ledger.End;
import org.cloister.host.ledger.Entry;
import org.cloister.host.machine.Erasures;
import org.cloister.host.machine.VmPlan;
import org.cloister.host.vm.VmOwner;
import org.cloister.protocol.Digest;
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
public final class Parts implements Erasures {
    private static final Logger LOG = LoggerFactory.getLogger(Parts.class);
    /** A ledger has fewer entries, and as many may wait for a relay. */
    private static final int MAX_LIVES = 8192;

    private static final int MAX_SIGNED = 4096;
    /** What was not reported by then is asked for by nobody. */
    private static final Duration KEPT = Duration.ofDays(30);
    /** A project does not wait longer for a host that cannot clean up. */
    private static final Duration PATIENCE = Duration.ofHours(1);

    private final Lives kept;
    private final SigningKey key;
    private final InstantSource clock;
    /** By UUID. What is here may be ahead of the disk, never behind it. */
    private final Map<String, Life> lives = new TreeMap<>();

    Parts(Lives kept, SigningKey key, InstantSource clock) throws IOException {
        this.kept = kept;
        this.key = key;
        this.clock = clock;
        kept.all().forEach(life -> lives.put(life.owner().uuid(), life));
    }

    /**
     * @param folder of these alone; made if it is not there, beside the ledger
     * @param key the host's own
     */
    public static Parts open(Path folder, SigningKey key, InstantSource clock) throws IOException {
        Files.createDirectories(folder);
        return new Parts(new LifeFolder(folder), key, clock);
    }

    /**
     * A part that was signed and that no relay has yet, as far as is known.
     *
     * @param vm its UUID
     */
    public record Unreported(String vm, String ticket, int slot, String envelope) {
        public byte[] statement() {
            return envelope.getBytes(StandardCharsets.US_ASCII);
        }
    }

    /**
     * The VM is about to be resumed; before the ledger has that step.
     *
     * @param ticket the digest of its payload
     */
    public void running(VmPlan plan, Digest ticket) throws IOException {
        running(plan.owner(), plan.facts(), ticket);
    }

    synchronized void running(VmOwner owner, VmFacts facts, Digest ticket) throws IOException {
        if (facts.role() != VmRole.WORKER) {
            return;
        }
        if (lives.size() >= MAX_LIVES) {
            throw new IOException("parts of receipts: want fewer than " + MAX_LIVES + ", have " + lives.size()
                    + "; see why no relay takes them");
        }
        put(Life.of(owner, facts, ticket, clock.instant()));
    }

    /** Its process is known to be gone, and the ledger says why it ends. The first word stays. */
    public synchronized void ended(Entry entry) throws IOException {
        Life life = open(entry.owner());
        if (life == null || entry.end().isEmpty()) {
            return;
        }
        End end = entry.end().get();
        if (!Ends.ran(entry, end)) {
            drop(life);
            return;
        }
        Life next = life.ended(clock.instant(), Ends.of(end.why()));
        if (!next.equals(life)) {
            put(next);
        }
    }

    @Override
    public synchronized void erased(Erasure erasure) throws IOException {
        Life life = open(erasure.owner());
        if (life != null) {
            put(life.erased(Ends.of(erasure)));
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
    public synchronized void rounded(
            Collection<Action> done, boolean clean, Supplier<? extends Collection<Entry>> ledger) {
        Set<VmOwner> forgotten = done.stream()
                .filter(Action.Forget.class::isInstance)
                .map(Action::owner)
                .collect(Collectors.toSet());
        List<Life> open =
                lives.values().stream().filter(life -> !life.isSigned()).toList();
        Set<VmOwner> there = ledger.get().stream().map(Entry::owner).collect(Collectors.toSet());
        Instant now = clock.instant();
        for (Life life : open) {
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
    public synchronized List<Unreported> unreported() {
        return lives.values().stream()
                .filter(Life::isSigned)
                .sorted(Comparator.comparing(Parts::signedAt))
                .map(life -> new Unreported(
                        life.owner().uuid(),
                        life.owner().ticket(),
                        life.owner().slot(),
                        life.signed().orElseThrow().envelope()))
                .toList();
    }

    /** A relay has it on disk. */
    public synchronized void reported(String vm) throws IOException {
        Life life = lives.get(vm);
        if (life != null && life.isSigned()) {
            drop(life);
        }
    }

    private void forgetOld(Instant now) {
        List<Life> signed = lives.values().stream()
                .filter(Life::isSigned)
                .sorted(Comparator.comparing(Parts::signedAt))
                .toList();
        for (int i = 0; i < signed.size(); i++) {
            Life life = signed.get(i);
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

    private static Instant signedAt(Life life) {
        return life.signed().orElseThrow().at();
    }

    /** Of a VM that is not signed for; null if nothing is kept of it. */
    private @Nullable Life open(VmOwner owner) {
        Life life = lives.get(owner.uuid());
        return life == null || life.isSigned() || !life.owner().equals(owner) ? null : life;
    }

    private void put(Life life) throws IOException {
        Life before = lives.put(life.owner().uuid(), life);
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
    private void restore(Life life, @Nullable Life before) {
        if (before == null) {
            lives.remove(life.owner().uuid());
        } else {
            lives.put(life.owner().uuid(), before);
        }
    }

    private void drop(Life life) throws IOException {
        kept.drop(life);
        lives.remove(life.owner().uuid());
    }
}
