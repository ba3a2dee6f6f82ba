package org.cloister.host.daemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.cloister.host.drive.DriveClaim;
import org.cloister.host.drive.DriveName;
import org.cloister.host.drive.LeaseWait;
import org.cloister.host.drive.SharedDrives;
import org.cloister.host.reconcile.ResourceOwners;
import org.cloister.host.reconcile.VmLedgerEntry;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.reconcile.VmTermination.Why;
import org.cloister.host.resources.VmPlan;
import org.cloister.host.resources.VmPlanSamples;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.host.vm.StartFailed;
import org.cloister.host.vm.VmRunCode;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DriveLeaseMonitorTest {
    private static final ResourceOwner OWNER = ResourceOwners.owner(3);
    private static final VmPlan PLAN = VmPlanSamples.withDrive(OWNER);
    private static final DriveClaim USE = PLAN.drive().orElseThrow();
    private static final DriveClaim LATER = new DriveClaim(USE.drive(), USE.epoch() + 1);
    private static final ResourceOwner OTHER = ResourceOwners.owner(4);
    private static final Duration AGE = Duration.ofSeconds(60);

    @TempDir
    private Path folder;

    private final List<VmLedgerEntry> ledger = new ArrayList<>();
    private final List<Why> ends = new ArrayList<>();
    private boolean plans = true;
    private long nowNs = 5;
    private BooleanSupplier answered = () -> true;
    private SharedDrives drives;
    private SharedDrives elsewhere;
    private DriveLeaseMonitor watch;

    @BeforeEach
    void begin() throws IOException {
        Files.createFile(folder.resolve(SharedDrives.MARK));
        drives = new SharedDrives(folder, "h1.host.site.cloister.internal", AGE);
        elsewhere = new SharedDrives(folder, "h2.host.site.cloister.internal", AGE);
        watch = watch();
    }

    /** Of a daemon that was just started. */
    private DriveLeaseMonitor watch() {
        return new DriveLeaseMonitor(drives, () -> List.copyOf(ledger), this::plan, this::end, AGE, this::now);
    }

    /** An answer takes a third of the age. */
    private long now() {
        return answered.getAsBoolean() ? nowNs : nowNs - AGE.toNanos() / 3;
    }

    private VmPlan plan(ResourceOwner owner) throws IOException {
        if (!plans || !owner.equals(OWNER)) {
            throw new NoSuchFileException("vm.json");
        }
        return PLAN;
    }

    private void end(String uuid, Why why) {
        ends.add(why);
        ledger.replaceAll(each -> each.owner().uuid().equals(uuid)
                ? new VmLedgerEntry(each.owner(), false, 1, each.step(), Optional.of(new VmTermination(why, "", 2)))
                : each);
    }

    private LeaseWait waiting(BooleanSupplier isRunning) {
        return new LeaseWait() {
            @Override
            public long nowNs() {
                return nowNs;
            }

            @Override
            public boolean pause(Duration time) {
                nowNs += time.toNanos();
                return isRunning.getAsBoolean();
            }
        };
    }

    private boolean acquire(BooleanSupplier isRunning) throws Exception {
        return watch.acquire(OWNER, USE, 1, waiting(isRunning));
    }

    private void run() throws Exception {
        assertThat(acquire(() -> true)).isTrue();
        ledger.add(VmLedgerEntry.claim(OWNER, false, 1));
        watch.onBuilt(OWNER);
        watch.onPass(true);
        watch.checkLeases();
    }

    private boolean isOurs() throws IOException {
        return drives.isHeld(USE.drive(), drives.holder(USE.epoch(), OWNER.ticket()));
    }

    private void acquireElsewhere() throws Exception {
        elsewhere.acquire(LATER.drive(), elsewhere.holder(LATER.epoch(), OTHER.ticket()), 1, waiting(() -> false));
    }

    @Test
    void a_drive_is_kept_until_nothing_of_its_vm_is_left() throws Exception {
        run();
        assertThat(watch.count()).isOne();
        end(OWNER.uuid(), Why.ASKED);
        watch.checkLeases();
        assertThat(isOurs()).isTrue();
        ledger.clear();
        watch.checkLeases();
        assertThat(isOurs()).isFalse();
        assertThat(watch.count()).isZero();
        assertThat(ends).containsExactly(Why.ASKED);
    }

    @Test
    void a_later_epoch_ends_the_vm_and_its_taker_hears_when_it_is_gone() throws Exception {
        run();
        acquireElsewhere();
        watch.checkLeases();
        watch.checkLeases();
        watch.checkDeadlines();
        assertThat(ends).containsExactly(Why.DRIVE_TAKEN);
        ledger.clear();
        watch.checkLeases();
        nowNs = 0;
        reacquireElsewhere();
        assertThat(nowNs).isZero();
    }

    /** It has to wait for nobody. */
    private void reacquireElsewhere() throws Exception {
        assertThat(elsewhere.acquire(
                        LATER.drive(), elsewhere.holder(LATER.epoch(), OTHER.ticket()), 1, waiting(() -> false)))
                .isTrue();
    }

    @Test
    void a_long_age_does_not_keep_a_later_opening_waiting() {
        assertThat(DriveLeaseMonitor.checkInterval(Duration.ofSeconds(12))).isEqualTo(Duration.ofSeconds(2));
        assertThat(DriveLeaseMonitor.checkInterval(Duration.ofMinutes(4))).isEqualTo(Duration.ofSeconds(10));
    }

    @Test
    void a_storage_that_is_silent_for_half_of_the_age_ends_the_vm_and_not_before() throws Exception {
        run();
        Files.delete(folder.resolve(SharedDrives.MARK));
        nowNs += AGE.toNanos() / 2;
        watch.checkLeases();
        watch.checkDeadlines();
        assertThat(ends).isEmpty();
        nowNs++;
        watch.checkLeases();
        watch.checkDeadlines();
        watch.checkDeadlines();
        assertThat(ends).containsExactly(Why.DRIVE_SILENT);
        ledger.clear();
        watch.checkLeases();
        assertThat(watch.count()).isOne();
        Files.createFile(folder.resolve(SharedDrives.MARK));
        assertThat(isOurs()).isTrue();
        watch.checkLeases();
        assertThat(isOurs()).isFalse();
    }

    @Test
    void a_storage_that_comes_back_in_time_ends_nothing() throws Exception {
        run();
        Files.delete(folder.resolve(SharedDrives.MARK));
        nowNs += AGE.toNanos() / 2;
        watch.checkLeases();
        Files.createFile(folder.resolve(SharedDrives.MARK));
        watch.checkLeases();
        nowNs += AGE.toNanos() / 2;
        watch.checkDeadlines();
        assertThat(ends).isEmpty();
    }

    @Test
    void an_answer_is_as_old_as_its_question() throws Exception {
        Path image = drives.image(USE.drive());
        answered = () -> Files.exists(image);
        assertThat(acquire(() -> true)).isTrue();
        ledger.add(VmLedgerEntry.claim(OWNER, false, 1));
        watch.onBuilt(OWNER);
        nowNs += AGE.toNanos() / 4;
        watch.checkDeadlines();
        assertThat(ends).as("taken").containsExactly(Why.DRIVE_SILENT);
        ledger.replaceAll(each -> VmLedgerEntry.claim(OWNER, false, 1));
        Path lock = image.resolveSibling(image.getFileName().toString().replace(".img", ".lock"));
        Files.delete(lock);
        answered = () -> Files.exists(lock);
        watch.checkLeases();
        watch.checkDeadlines();
        assertThat(ends).hasSize(1);
        nowNs += AGE.toNanos() / 4;
        watch.checkDeadlines();
        assertThat(ends).as("held").containsExactly(Why.DRIVE_SILENT, Why.DRIVE_SILENT);
    }

    @Test
    void a_daemon_that_was_killed_while_its_vm_ran_holds_on() throws Exception {
        run();
        watch = watch();
        watch.checkLeases();
        watch.onPass(true);
        watch.checkLeases();
        assertThat(isOurs()).isTrue();
        assertThat(watch.count()).isOne();
        acquireElsewhere();
        watch.checkLeases();
        assertThat(ends).containsExactly(Why.DRIVE_TAKEN);
    }

    @Test
    void a_daemon_that_was_killed_before_the_ledger_knew_lets_go_once_it_has_seen_everything() throws Exception {
        acquire(() -> true);
        watch = watch();
        watch.onPass(false);
        watch.checkLeases();
        assertThat(isOurs()).isTrue();
        watch.onPass(true);
        watch.checkLeases();
        assertThat(isOurs()).isFalse();
    }

    @Test
    void a_fault_of_ours_keeps_nobody_from_seeing_that_time_has_passed() throws Exception {
        run();
        CountDownLatch tries = new CountDownLatch(2);
        DriveLeaseMonitor.Fence faulty = (uuid, why) -> {
            tries.countDown();
            throw new IllegalStateException("a fault");
        };
        try (DriveLeaseMonitor next =
                new DriveLeaseMonitor(drives, () -> List.copyOf(ledger), this::plan, faulty, AGE, () -> nowNs)) {
            next.checkLeases();
            Files.delete(folder.resolve(SharedDrives.MARK));
            nowNs += AGE.toNanos();
            next.start();
            assertThat(tries.await(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void a_vm_whose_plan_is_gone_keeps_its_drive_until_the_ledger_forgets_it() throws Exception {
        run();
        plans = false;
        watch = watch();
        watch.onPass(true);
        watch.checkLeases();
        assertThat(isOurs()).isTrue();
        ledger.clear();
        watch.checkLeases();
        assertThat(isOurs()).isFalse();
    }

    @Test
    void who_waits_for_a_drive_is_left_alone_and_lets_go_when_it_waits_no_more() throws Exception {
        watch.onPass(true);
        acquireElsewhereBefore();
        assertThat(acquire(() -> {
                    watch.checkLeases();
                    watch.checkDeadlines();
                    return nowNs < AGE.toNanos() / 2;
                }))
                .isFalse();
        assertThat(isOurs()).isTrue();
        watch.onBuilt(OWNER);
        watch.checkLeases();
        assertThat(isOurs()).isFalse();
        assertThat(ends).isEmpty();
        assertThat(watch.count()).isZero();
    }

    private void acquireElsewhereBefore() throws Exception {
        elsewhere.acquire(USE.drive(), elsewhere.holder(USE.epoch() - 1, OTHER.ticket()), 1, waiting(() -> false));
    }

    @Test
    void a_drive_that_is_refused_or_cannot_be_asked_for_leaves_nothing_to_look_after() throws Exception {
        acquireElsewhere();
        assertThatThrownBy(() -> acquire(() -> true))
                .isInstanceOfSatisfying(
                        StartFailed.class, e -> assertThat(e.code()).isEqualTo(VmRunCode.REFUSED));
        watch.onBuilt(OWNER);
        watch.checkLeases();
        Files.delete(folder.resolve(SharedDrives.MARK));
        assertThatThrownBy(() -> acquire(() -> true))
                .isInstanceOfSatisfying(
                        StartFailed.class, e -> assertThat(e.code()).isEqualTo(VmRunCode.UNAVAILABLE));
        watch.onBuilt(OWNER);
        Files.createFile(folder.resolve(SharedDrives.MARK));
        watch.checkLeases();
        assertThat(watch.count()).isZero();
        DriveName drive = USE.drive();
        assertThat(elsewhere.isHeld(drive, elsewhere.holder(LATER.epoch(), OTHER.ticket())))
                .isTrue();
    }
}
