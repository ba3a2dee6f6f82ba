package org.cloister.host.daemon;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.cloister.host.drive.DriveClaim;
import org.cloister.host.drive.DriveLeaseRefused;
import org.cloister.host.drive.LeaseHolder;
import org.cloister.host.drive.LeaseWait;
import org.cloister.host.drive.SharedDrives;
import org.cloister.host.drive.StorageUnavailable;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.resources.VmPlan;
import org.cloister.host.vm.ResourceOwner;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks after the drives of this host's controlling VMs: a VM whose drive is another's ends, and so does one of whose drive
 * nobody could tell for too long; a drive is let go when the ledger has forgotten its VM, and never before. One thread asks
 * the storage, which may hang; another one sees that time has passed.
 */
final class DriveLeaseMonitor implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DriveLeaseMonitor.class);
    private static final int LOOKS = 6;
    private static final Duration JUDGED = Duration.ofSeconds(1);

    private final SharedDrives drives;
    private final Supplier<List<VmLedgerEntry>> ledger;
    private final PlanLookup plans;
    private final Fence ends;
    private final LongSupplier nowNs;
    private final Duration look;
    private final Duration silence;
    /** By UUID. */
    private final Map<String, MonitoredDrive> kept = new ConcurrentHashMap<>();
    /** UUIDs of the ledger's that have no plan: whether these have drives, their leases say. */
    private final Set<String> unread = new HashSet<>();

    private final Semaphore bell = new Semaphore(0);
    private final Thread looker;
    private final Thread judge;
    private volatile boolean settled;
    private volatile boolean closed;
    private boolean swept;
    private String trouble = "";

    /** As {@code VmFolders} has them. */
    @FunctionalInterface
    interface PlanLookup {
        /** @throws IOException also if there is none */
        VmPlan plan(ResourceOwner owner) throws IOException;
    }

    /** As {@link VmTerminator#fence} does it. */
    @FunctionalInterface
    interface Fence {
        void fence(String uuid, VmTermination.Why why) throws IOException;
    }

    private enum State {
        /** Its lease may be written, and earlier holders are waited for. */
        TAKING,
        /** The drive is its own, and the ledger does not have it yet. */
        TAKEN,
        /** It has the drive for as long as the ledger has the VM. */
        BUILT
    }

    private static final class MonitoredDrive {
        final DriveClaim use;
        final LeaseHolder holder;
        volatile State state;
        volatile long seenNs;
        volatile boolean isLost;

        MonitoredDrive(DriveClaim use, LeaseHolder holder, State state, long seenNs) {
            this.use = use;
            this.holder = holder;
            this.state = state;
            this.seenNs = seenNs;
        }
    }

    /**
     * @param ledger what it has now
     * @param age as the drives have it
     */
    DriveLeaseMonitor(
            SharedDrives drives,
            Supplier<List<VmLedgerEntry>> ledger,
            PlanLookup plans,
            Fence ends,
            Duration age,
            LongSupplier nowNs) {
        this.drives = drives;
        this.ledger = ledger;
        this.plans = plans;
        this.ends = ends;
        this.look = age.dividedBy(LOOKS);
        this.silence = age.dividedBy(2);
        this.nowNs = nowNs;
        this.looker = thread("drives", this::run);
        this.judge = thread("drives-time", this::judge);
    }

    private static Thread thread(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    }

    void start() {
        looker.start();
        judge.start();
    }

    Path image(DriveClaim use) {
        return drives.image(use.drive());
    }

    /** VMs with drives. */
    int count() {
        return (int) kept.values().stream()
                .filter(each -> each.state != State.TAKING)
                .count();
    }

    /**
     * Before anything is made of the VM, or written of it; {@link #onBuilt} has to follow.
     *
     * @param mib as {@link SharedDrives#acquire} has it
     * @return false if nobody waits any more
     */
    boolean acquire(ResourceOwner owner, DriveClaim use, int mib, LeaseWait patience)
            throws DriveLeaseRefused, StorageUnavailable, InterruptedException {
        LeaseHolder holder = drives.holder(use.epoch(), owner.ticket());
        MonitoredDrive mine = new MonitoredDrive(use, holder, State.TAKING, nowNs.getAsLong());
        kept.put(owner.uuid(), mine);
        if (!drives.acquire(use.drive(), holder, mib, new TimestampingWait(patience, mine, nowNs))) {
            return false;
        }
        mine.state = State.TAKEN;
        return true;
    }

    /** Drives ask for the time right before each question; the answer may be as old. */
    private record TimestampingWait(LeaseWait patience, MonitoredDrive mine, LongSupplier clock) implements LeaseWait {
        @Override
        public long nowNs() {
            mine.seenNs = clock.getAsLong();
            return patience.nowNs();
        }

        @Override
        public boolean pause(Duration time) throws InterruptedException {
            return patience.pause(time);
        }
    }

    /** From here on the ledger says whether there is a VM, also if none was made. */
    void onBuilt(ResourceOwner owner) {
        MonitoredDrive mine = kept.get(owner.uuid());
        if (mine != null) {
            mine.state = State.BUILT;
        }
        bell.release();
    }

    /** @param heard whether everything here has been seen once: then what the ledger has not is not there */
    void onPass(boolean heard) {
        settled |= heard;
        bell.release();
    }

    private void run() {
        try {
            while (!closed) {
                bell.drainPermits();
                once(this::checkLeases);
                if (bell.tryAcquire(look.toMillis(), TimeUnit.MILLISECONDS)) {
                    // Rounds come in bursts.
                    TimeUnit.MILLISECONDS.sleep(JUDGED.toMillis() / 2);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A fault of ours in one of them is no reason for none to follow. */
    private static void once(Runnable work) {
        try {
            work.run();
        } catch (RuntimeException e) {
            LOG.error("drives: a fault of agent-host", e);
        }
    }

    /** Asks the storage of each drive here, lets go of what has no VM any more, and finds what an earlier process held. */
    void checkLeases() {
        List<VmLedgerEntry> entries = ledger.get();
        entries.forEach(this::remember);
        Set<String> there = entries.stream().map(entry -> entry.owner().uuid()).collect(Collectors.toSet());
        kept.forEach((uuid, each) -> {
            try {
                if (each.state == State.BUILT && entry(uuid).isEmpty()) {
                    drives.release(each.use.drive(), each.holder);
                    kept.remove(uuid);
                    LOG.info("drive {}: {} has let go", each.use.drive(), each.holder);
                } else if (each.state != State.TAKING) {
                    hold(uuid, each);
                }
            } catch (IOException e) {
                LOG.warn("drive {}: {}", each.use.drive(), e.getMessage());
            }
        });
        if (unread.removeIf(uuid -> !there.contains(uuid))) {
            swept = false;
        }
        if (settled && !swept) {
            sweep();
        }
    }

    private void remember(VmLedgerEntry entry) {
        String uuid = entry.owner().uuid();
        if (kept.containsKey(uuid)) {
            return;
        }
        try {
            plans.plan(entry.owner())
                    .drive()
                    .ifPresent(use -> kept.put(
                            uuid,
                            new MonitoredDrive(
                                    use,
                                    drives.holder(use.epoch(), entry.owner().ticket()),
                                    State.BUILT,
                                    nowNs.getAsLong())));
        } catch (IOException e) {
            unread.add(uuid);
        }
    }

    private void hold(String uuid, MonitoredDrive each) throws IOException {
        // An answer may be as old as its question.
        long askedNs = nowNs.getAsLong();
        if (!drives.isHeld(each.use.drive(), each.holder)) {
            if (!each.isLost) {
                LOG.warn("drive {}: want it for {}, have it taken; VM {} ends", each.use.drive(), each.holder, uuid);
            }
            each.isLost = true;
            if (goesOn(uuid)) {
                ends.fence(uuid, VmTermination.Why.DRIVE_TAKEN);
            }
        } else {
            each.seenNs = askedNs;
        }
    }

    private Optional<VmLedgerEntry> entry(String uuid) {
        return ledger.get().stream()
                .filter(each -> each.owner().uuid().equals(uuid))
                .findFirst();
    }

    private boolean goesOn(String uuid) {
        return entry(uuid).filter(entry -> entry.end().isEmpty()).isPresent();
    }

    /** What the ledger does not explain, of a daemon that was killed between a lease and the ledger, or lost it. */
    private void sweep() {
        try {
            SharedDrives.Leases leases = drives.leases();
            String all = String.join("; ", leases.damaged());
            if (!all.equals(trouble) && !all.isEmpty()) {
                LOG.warn("drives: {}; see docs/operations.md, Controlling VMs and their drives", all);
            }
            trouble = all;
            for (SharedDrives.NamedLease each : leases.ofThisHost()) {
                if (!isExplained(each)) {
                    drives.release(each.drive(), each.holder());
                    LOG.info("drive {}: {} has no VM here and lets go", each.drive(), each.holder());
                }
            }
            swept = true;
        } catch (IOException e) {
            if (!trouble.equals(String.valueOf(e.getMessage()))) {
                LOG.warn("drives: leases of this host not looked for: {}", e.getMessage());
            }
            trouble = String.valueOf(e.getMessage());
        }
    }

    private boolean isExplained(SharedDrives.NamedLease named) {
        String opening = named.holder().opening();
        return kept.values().stream().anyMatch(each -> each.holder.opening().equals(opening))
                || ledger.get().stream()
                        .anyMatch(entry -> entry.owner().ticket().equals(opening));
    }

    private void judge() {
        try {
            while (!closed) {
                once(this::checkDeadlines);
                TimeUnit.MILLISECONDS.sleep(JUDGED.toMillis());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends VMs whose drive's storage has been silent for too long. */
    void checkDeadlines() {
        long now = nowNs.getAsLong();
        kept.forEach((uuid, each) -> {
            if (each.state != State.TAKING && now - each.seenNs > silence.toNanos() && goesOn(uuid)) {
                try {
                    if (!each.isLost) {
                        LOG.error(
                                "drive {}: want an answer of its storage within {} s, have none; VM {} ends",
                                each.use.drive(),
                                silence.toSeconds(),
                                uuid);
                    }
                    each.isLost = true;
                    ends.fence(uuid, VmTermination.Why.DRIVE_SILENT);
                } catch (IOException e) {
                    LOG.error("VM {}: that it is to end is not written down: {}", uuid, e.getMessage());
                }
            }
        });
    }

    @Override
    public void close() {
        closed = true;
        looker.interrupt();
        judge.interrupt();
    }
}
