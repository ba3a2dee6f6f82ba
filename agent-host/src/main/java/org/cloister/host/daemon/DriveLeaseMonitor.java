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
import org.cloister.host.drive.LeaseHolder;
import org.cloister.host.drive.LeaseWait;
import org.cloister.host.drive.SharedDrives;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.resources.VmPlan;
import org.cloister.host.vm.ResourceOwner;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Monitors the drive leases of this host's controlling VMs. It stops a VM whose drive another holder has taken, and a
 * VM whose lease could not be checked for half of the lease age. It releases a lease only after the ledger has
 * forgotten the VM. One thread queries the storage, which may hang; another checks the deadlines.
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
    /** Monitored drives by VM UUID. */
    private final Map<String, MonitoredDrive> kept = new ConcurrentHashMap<>();
    /** UUIDs of ledger entries whose plan could not be read; only the leases show whether these VMs have drives. */
    private final Set<String> unread = new HashSet<>();

    private final Semaphore bell = new Semaphore(0);
    private final Thread looker;
    private final Thread judge;
    private volatile boolean settled;
    private volatile boolean closed;
    private boolean swept;
    private String trouble = "";

    /** Reads plans, as {@code VmFolders} does. */
    @FunctionalInterface
    interface PlanLookup {
        /**
         * Returns a VM's plan.
         *
         * @throws IOException also if there is none
         */
        VmPlan plan(ResourceOwner owner) throws IOException;
    }

    /** Stops VMs, as {@link VmTerminator#fence} does. */
    @FunctionalInterface
    interface Fence {
        void fence(String uuid, VmTermination.Why why) throws IOException;
    }

    private enum State {
        /** The lease may be written, and the run waits for earlier holders. */
        TAKING,
        /** The VM holds the drive, and has no ledger entry yet. */
        TAKEN,
        /** The VM holds the drive for as long as the ledger has the VM. */
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
     * @param ledger supplies the current entries
     * @param age time that a holder may go without a check of its lease, as in {@code SharedDrives}
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

    /** Returns the number of VMs that hold drives. */
    int count() {
        return (int) kept.values().stream()
                .filter(each -> each.state != State.TAKING)
                .count();
    }

    /**
     * Acquires a VM's drive before anything of the VM is created or persisted; the caller must call {@link #onBuilt}
     * afterwards.
     *
     * @param mib as in {@link SharedDrives#acquire}
     * @return false if the run was stopped while it waited
     */
    boolean acquire(ResourceOwner owner, DriveClaim use, int mib, LeaseWait patience)
            throws IOException, InterruptedException {
        LeaseHolder holder = drives.holder(use.epoch(), owner.ticket());
        MonitoredDrive mine = new MonitoredDrive(use, holder, State.TAKING, nowNs.getAsLong());
        kept.put(owner.uuid(), mine);
        if (!drives.acquire(use.drive(), holder, mib, new TimestampingWait(patience, mine, nowNs))) {
            return false;
        }
        mine.state = State.TAKEN;
        return true;
    }

    /**
     * Records the time at which {@code SharedDrives} reads the clock, right before each query: the answer may be as old
     * as that.
     */
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

    /** Records that the VM was built or failed: from now on the ledger decides whether the VM exists. */
    void onBuilt(ResourceOwner owner) {
        MonitoredDrive mine = kept.get(owner.uuid());
        if (mine != null) {
            mine.state = State.BUILT;
        }
        bell.release();
    }

    /**
     * Records the end of a reconcile pass.
     *
     * @param heard whether every source has answered since the start: then a VM without a ledger entry does not exist
     */
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
                    // Reconcile passes come in bursts.
                    TimeUnit.MILLISECONDS.sleep(JUDGED.toMillis() / 2);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Runs a task and logs its faults, so that the following runs still take place. */
    private static void once(Runnable work) {
        try {
            work.run();
        } catch (RuntimeException e) {
            LOG.error("the check of the drive leases failed with an internal error", e);
        }
    }

    /**
     * Checks the lease of each drive here, releases those whose VM is gone, and finds leases that an earlier process
     * held.
     */
    void checkLeases() {
        List<VmLedgerEntry> entries = ledger.get();
        entries.forEach(this::remember);
        Set<String> there = entries.stream().map(entry -> entry.owner().uuid()).collect(Collectors.toSet());
        kept.forEach((uuid, each) -> {
            try {
                if (each.state == State.BUILT && entry(uuid).isEmpty()) {
                    drives.release(each.use.drive(), each.holder);
                    kept.remove(uuid);
                    LOG.info("drive {} released by {}", each.use.drive(), each.holder);
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
        // The answer may be as old as the question.
        long askedNs = nowNs.getAsLong();
        if (!drives.isHeld(each.use.drive(), each.holder)) {
            if (!each.isLost) {
                LOG.warn(
                        "drive {}: {} has lost the lease to a later opening; stopping VM {}",
                        each.use.drive(),
                        each.holder,
                        uuid);
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

    /**
     * Releases leases of this host that the ledger does not explain: a daemon was killed between writing the lease and
     * the ledger entry, or lost the ledger.
     */
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
                    LOG.info("drive {} released by {}, which has no VM on this host", each.drive(), each.holder());
                }
            }
            swept = true;
        } catch (IOException e) {
            if (!trouble.equals(String.valueOf(e.getMessage()))) {
                LOG.warn("drives: the leases of this host cannot be listed: {}", e.getMessage());
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

    /** Stops VMs whose drive's storage has not answered for too long. */
    void checkDeadlines() {
        long now = nowNs.getAsLong();
        kept.forEach((uuid, each) -> {
            if (each.state != State.TAKING && now - each.seenNs > silence.toNanos() && goesOn(uuid)) {
                try {
                    if (!each.isLost) {
                        LOG.error(
                                "drive {}: its storage did not answer for {} s; stopping VM {}",
                                each.use.drive(),
                                silence.toSeconds(),
                                uuid);
                    }
                    each.isLost = true;
                    ends.fence(uuid, VmTermination.Why.DRIVE_SILENT);
                } catch (IOException e) {
                    LOG.error("the end of VM {} cannot be recorded: {}", uuid, e.getMessage());
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
