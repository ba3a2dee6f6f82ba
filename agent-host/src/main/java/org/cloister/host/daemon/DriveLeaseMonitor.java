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
    private static final int CHECKS_PER_AGE = 6;
    /** A later opening waits until this host has seen it. */
    private static final Duration LONGEST_INTERVAL = Duration.ofSeconds(10);

    private static final Duration DEADLINE_INTERVAL = Duration.ofSeconds(1);

    private final SharedDrives drives;
    private final Supplier<List<VmLedgerEntry>> ledger;
    private final PlanLookup plans;
    private final Fence fence;
    private final LongSupplier nowNs;
    private final Duration checkInterval;
    private final Duration timeout;
    /** Monitored drives by VM UUID. */
    private final Map<String, MonitoredDrive> monitored = new ConcurrentHashMap<>();
    /** UUIDs of ledger entries whose plan could not be read; only the leases show whether these VMs have drives. */
    private final Set<String> unread = new HashSet<>();

    private final Semaphore wakeUp = new Semaphore(0);
    private final Thread leaseThread;
    private final Thread deadlineThread;
    private volatile boolean allSourcesAnswered;
    private volatile boolean closed;
    private boolean unexplainedReleased;
    private String lastProblem = "";

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
        ACQUIRING,
        /** The VM holds the drive, and has no ledger entry yet. */
        ACQUIRED,
        /** The VM holds the drive for as long as the ledger has the VM. */
        BUILT
    }

    private static final class MonitoredDrive {
        final DriveClaim claim;
        final LeaseHolder holder;
        volatile State state;
        volatile long checkedNs;
        volatile boolean lost;

        MonitoredDrive(DriveClaim claim, LeaseHolder holder, State state, long checkedNs) {
            this.claim = claim;
            this.holder = holder;
            this.state = state;
            this.checkedNs = checkedNs;
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
            Fence fence,
            Duration age,
            LongSupplier nowNs) {
        this.drives = drives;
        this.ledger = ledger;
        this.plans = plans;
        this.fence = fence;
        this.checkInterval = checkInterval(age);
        this.timeout = age.dividedBy(2);
        this.nowNs = nowNs;
        this.leaseThread = thread("drives", this::run);
        this.deadlineThread = thread("drives-time", this::checkDeadlinesPeriodically);
    }

    static Duration checkInterval(Duration age) {
        Duration part = age.dividedBy(CHECKS_PER_AGE);
        return part.compareTo(LONGEST_INTERVAL) < 0 ? part : LONGEST_INTERVAL;
    }

    private static Thread thread(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    }

    void start() {
        leaseThread.start();
        deadlineThread.start();
    }

    Path image(DriveClaim claim) {
        return drives.image(claim.drive());
    }

    /** Returns the number of VMs that hold drives. */
    int count() {
        return (int) monitored.values().stream()
                .filter(each -> each.state != State.ACQUIRING)
                .count();
    }

    /**
     * Acquires a VM's drive before anything of the VM is created or persisted; the caller must call {@link #onBuilt}
     * afterwards.
     *
     * @param mib as in {@link SharedDrives#acquire}
     * @return false if the run was stopped while it waited
     */
    boolean acquire(ResourceOwner owner, DriveClaim claim, int mib, LeaseWait wait)
            throws IOException, InterruptedException {
        LeaseHolder holder = drives.holder(claim.epoch(), owner.ticket());
        MonitoredDrive drive = new MonitoredDrive(claim, holder, State.ACQUIRING, nowNs.getAsLong());
        monitored.put(owner.uuid(), drive);
        if (!drives.acquire(claim.drive(), holder, mib, new TimestampingWait(wait, drive, nowNs))) {
            return false;
        }
        drive.state = State.ACQUIRED;
        return true;
    }

    /**
     * Records the time at which {@code SharedDrives} reads the clock, right before each query: the answer may be as old
     * as that.
     */
    private record TimestampingWait(LeaseWait caller, MonitoredDrive drive, LongSupplier clock) implements LeaseWait {
        @Override
        public long nowNs() {
            drive.checkedNs = clock.getAsLong();
            return caller.nowNs();
        }

        @Override
        public boolean pause(Duration time) throws InterruptedException {
            return caller.pause(time);
        }
    }

    /** Records that the VM was built or failed: from now on the ledger decides whether the VM exists. */
    void onBuilt(ResourceOwner owner) {
        MonitoredDrive drive = monitored.get(owner.uuid());
        if (drive != null) {
            drive.state = State.BUILT;
        }
        wakeUp.release();
    }

    /**
     * Records the end of a reconcile pass.
     *
     * @param allAnswered whether every source has answered since the start: then a VM without a ledger entry does not
     *     exist
     */
    void onPass(boolean allAnswered) {
        allSourcesAnswered |= allAnswered;
        wakeUp.release();
    }

    private void run() {
        try {
            while (!closed) {
                wakeUp.drainPermits();
                runAndLog(this::checkLeases);
                if (wakeUp.tryAcquire(checkInterval.toMillis(), TimeUnit.MILLISECONDS)) {
                    // Reconcile passes come in bursts.
                    TimeUnit.MILLISECONDS.sleep(DEADLINE_INTERVAL.toMillis() / 2);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Runs a task and logs its faults, so that the following runs still take place. */
    private static void runAndLog(Runnable work) {
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
        entries.forEach(this::monitor);
        Set<String> uuids = entries.stream().map(entry -> entry.owner().uuid()).collect(Collectors.toSet());
        monitored.forEach((uuid, each) -> {
            try {
                if (each.state == State.BUILT && entry(uuid).isEmpty()) {
                    drives.release(each.claim.drive(), each.holder);
                    monitored.remove(uuid);
                    LOG.info("drive {} released by {}", each.claim.drive(), each.holder);
                } else if (each.state != State.ACQUIRING) {
                    checkHolder(uuid, each);
                }
            } catch (IOException e) {
                LOG.warn("drive {}: {}", each.claim.drive(), e.getMessage());
            }
        });
        if (unread.removeIf(uuid -> !uuids.contains(uuid))) {
            unexplainedReleased = false;
        }
        if (allSourcesAnswered && !unexplainedReleased) {
            releaseUnexplained();
        }
    }

    private void monitor(VmLedgerEntry entry) {
        String uuid = entry.owner().uuid();
        if (monitored.containsKey(uuid)) {
            return;
        }
        try {
            plans.plan(entry.owner())
                    .drive()
                    .ifPresent(claim -> monitored.put(
                            uuid,
                            new MonitoredDrive(
                                    claim,
                                    drives.holder(claim.epoch(), entry.owner().ticket()),
                                    State.BUILT,
                                    nowNs.getAsLong())));
        } catch (IOException e) {
            unread.add(uuid);
        }
    }

    private void checkHolder(String uuid, MonitoredDrive each) throws IOException {
        // The answer may be as old as the question.
        long queriedNs = nowNs.getAsLong();
        if (!drives.isHeld(each.claim.drive(), each.holder)) {
            if (!each.lost) {
                LOG.warn(
                        "drive {}: {} has lost the lease to a later opening; stopping VM {}",
                        each.claim.drive(),
                        each.holder,
                        uuid);
            }
            each.lost = true;
            if (isRunning(uuid)) {
                fence.fence(uuid, VmTermination.Why.DRIVE_TAKEN);
            }
        } else {
            each.checkedNs = queriedNs;
        }
    }

    private Optional<VmLedgerEntry> entry(String uuid) {
        return ledger.get().stream()
                .filter(each -> each.owner().uuid().equals(uuid))
                .findFirst();
    }

    private boolean isRunning(String uuid) {
        return entry(uuid).filter(entry -> entry.end().isEmpty()).isPresent();
    }

    /**
     * Releases leases of this host that the ledger does not explain: a daemon was killed between writing the lease and
     * the ledger entry, or lost the ledger.
     */
    private void releaseUnexplained() {
        try {
            SharedDrives.Leases leases = drives.leases();
            String all = String.join("; ", leases.damaged());
            if (!all.equals(lastProblem) && !all.isEmpty()) {
                LOG.warn("drives: {}; see docs/operations.md, Controlling VMs and their drives", all);
            }
            lastProblem = all;
            for (SharedDrives.NamedLease each : leases.ofThisHost()) {
                if (!isExplained(each)) {
                    drives.release(each.drive(), each.holder());
                    LOG.info("drive {} released by {}, which has no VM on this host", each.drive(), each.holder());
                }
            }
            unexplainedReleased = true;
        } catch (IOException e) {
            if (!lastProblem.equals(String.valueOf(e.getMessage()))) {
                LOG.warn("drives: the leases of this host cannot be listed: {}", e.getMessage());
            }
            lastProblem = String.valueOf(e.getMessage());
        }
    }

    private boolean isExplained(SharedDrives.NamedLease named) {
        String opening = named.holder().opening();
        return monitored.values().stream()
                        .anyMatch(each -> each.holder.opening().equals(opening))
                || ledger.get().stream()
                        .anyMatch(entry -> entry.owner().ticket().equals(opening));
    }

    private void checkDeadlinesPeriodically() {
        try {
            while (!closed) {
                runAndLog(this::checkDeadlines);
                TimeUnit.MILLISECONDS.sleep(DEADLINE_INTERVAL.toMillis());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Stops VMs whose drive's storage has not answered for too long. */
    void checkDeadlines() {
        long now = nowNs.getAsLong();
        monitored.forEach((uuid, each) -> {
            if (each.state != State.ACQUIRING && now - each.checkedNs > timeout.toNanos() && isRunning(uuid)) {
                try {
                    if (!each.lost) {
                        LOG.error(
                                "drive {}: its storage did not answer for {} s; stopping VM {}",
                                each.claim.drive(),
                                timeout.toSeconds(),
                                uuid);
                    }
                    each.lost = true;
                    fence.fence(uuid, VmTermination.Why.DRIVE_SILENT);
                } catch (IOException e) {
                    LOG.error("the end of VM {} cannot be recorded: {}", uuid, e.getMessage());
                }
            }
        });
    }

    @Override
    public void close() {
        closed = true;
        leaseThread.interrupt();
        deadlineThread.interrupt();
    }
}
