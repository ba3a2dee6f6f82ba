package org.cloister.host.run;

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
import org.cloister.host.drive.DriveName;
import org.cloister.host.drive.DriveRefused;
import org.cloister.host.drive.DriveUse;
import org.cloister.host.drive.Drives;
import org.cloister.host.drive.Patience;
import org.cloister.host.drive.StorageSilent;
import org.cloister.host.ledger.End;
import org.cloister.host.ledger.End.Why;
import org.cloister.host.ledger.Entry;
import org.cloister.host.ledger.Owners;
import org.cloister.host.machine.PlanSamples;
import org.cloister.host.machine.VmPlan;
import org.cloister.host.vm.VmOwner;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DriveWatchTest {
    private static final VmOwner OWNER = Owners.owner(3);
    private static final VmPlan PLAN = PlanSamples.withDrive(OWNER);
    private static final DriveUse USE = PLAN.drive().orElseThrow();
    private static final DriveUse LATER = new DriveUse(USE.drive(), USE.epoch() + 1);
    private static final VmOwner OTHER = Owners.owner(4);
    private static final Duration AGE = Duration.ofSeconds(60);

    @TempDir
    private Path folder;

    private final List<Entry> ledger = new ArrayList<>();
    private final List<Why> ends = new ArrayList<>();
    private boolean plans = true;
    private long nowNs = 5;
    private BooleanSupplier answered = () -> true;
    private Drives drives;
    private Drives elsewhere;
    private DriveWatch watch;

    @BeforeEach
    void begin() throws IOException {
        Files.createFile(folder.resolve(Drives.MARK));
        drives = new Drives(folder, "h1.host.site.cloister.internal", AGE);
        elsewhere = new Drives(folder, "h2.host.site.cloister.internal", AGE);
        watch = watch();
    }

    /** Of a daemon that was just started. */
    private DriveWatch watch() {
        return new DriveWatch(drives, () -> List.copyOf(ledger), this::plan, this::end, AGE, this::now);
    }

    /** An answer takes a third of the age. */
    private long now() {
        return answered.getAsBoolean() ? nowNs : nowNs - AGE.toNanos() / 3;
    }

    private VmPlan plan(VmOwner owner) throws IOException {
        if (!plans || !owner.equals(OWNER)) {
            throw new NoSuchFileException("vm.json");
        }
        return PLAN;
    }

    private void end(String uuid, Why why) {
        ends.add(why);
        ledger.replaceAll(each -> each.owner().uuid().equals(uuid)
                ? new Entry(each.owner(), false, 1, each.step(), Optional.of(new End(why, "", 2)))
                : each);
    }

    private Patience waiting(BooleanSupplier goesOn) {
        return new Patience() {
            @Override
            public long nowNs() {
                return nowNs;
            }

            @Override
            public boolean pause(Duration time) {
                nowNs += time.toNanos();
                return goesOn.getAsBoolean();
            }
        };
    }

    private boolean take(BooleanSupplier goesOn) throws Exception {
        return watch.take(OWNER, USE, 1, waiting(goesOn));
    }

    private void run() throws Exception {
        assertThat(take(() -> true)).isTrue();
        ledger.add(Entry.claim(OWNER, false, 1));
        watch.built(OWNER);
        watch.rounded(true);
        watch.look();
    }

    private boolean isOurs() throws IOException {
        return drives.isHeld(USE.drive(), drives.holder(USE.epoch(), OWNER.ticket()));
    }

    private void takeElsewhere() throws Exception {
        elsewhere.take(LATER.drive(), elsewhere.holder(LATER.epoch(), OTHER.ticket()), 1, waiting(() -> false));
    }

    @Test
    void a_drive_is_kept_until_nothing_of_its_vm_is_left() throws Exception {
        run();
        assertThat(watch.held()).isOne();
        end(OWNER.uuid(), Why.ASKED);
        watch.look();
        assertThat(isOurs()).isTrue();
        ledger.clear();
        watch.look();
        assertThat(isOurs()).isFalse();
        assertThat(watch.held()).isZero();
        assertThat(ends).containsExactly(Why.ASKED);
    }

    @Test
    void a_later_epoch_ends_the_vm_and_its_taker_hears_when_it_is_gone() throws Exception {
        run();
        takeElsewhere();
        watch.look();
        watch.look();
        watch.judgeOnce();
        assertThat(ends).containsExactly(Why.DRIVE_TAKEN);
        ledger.clear();
        watch.look();
        nowNs = 0;
        takeElsewhereAgain();
        assertThat(nowNs).isZero();
    }

    /** It has to wait for nobody. */
    private void takeElsewhereAgain() throws Exception {
        assertThat(elsewhere.take(
                        LATER.drive(), elsewhere.holder(LATER.epoch(), OTHER.ticket()), 1, waiting(() -> false)))
                .isTrue();
    }

    @Test
    void a_storage_that_is_silent_for_half_of_the_age_ends_the_vm_and_not_before() throws Exception {
        run();
        Files.delete(folder.resolve(Drives.MARK));
        nowNs += AGE.toNanos() / 2;
        watch.look();
        watch.judgeOnce();
        assertThat(ends).isEmpty();
        nowNs++;
        watch.look();
        watch.judgeOnce();
        watch.judgeOnce();
        assertThat(ends).containsExactly(Why.DRIVE_SILENT);
        ledger.clear();
        watch.look();
        assertThat(watch.held()).isOne();
        Files.createFile(folder.resolve(Drives.MARK));
        assertThat(isOurs()).isTrue();
        watch.look();
        assertThat(isOurs()).isFalse();
    }

    @Test
    void a_storage_that_comes_back_in_time_ends_nothing() throws Exception {
        run();
        Files.delete(folder.resolve(Drives.MARK));
        nowNs += AGE.toNanos() / 2;
        watch.look();
        Files.createFile(folder.resolve(Drives.MARK));
        watch.look();
        nowNs += AGE.toNanos() / 2;
        watch.judgeOnce();
        assertThat(ends).isEmpty();
    }

    @Test
    void an_answer_is_as_old_as_its_question() throws Exception {
        Path image = drives.image(USE.drive());
        answered = () -> Files.exists(image);
        assertThat(take(() -> true)).isTrue();
        ledger.add(Entry.claim(OWNER, false, 1));
        watch.built(OWNER);
        nowNs += AGE.toNanos() / 4;
        watch.judgeOnce();
        assertThat(ends).as("taken").containsExactly(Why.DRIVE_SILENT);
        ledger.replaceAll(each -> Entry.claim(OWNER, false, 1));
        Path lock = image.resolveSibling(image.getFileName().toString().replace(".img", ".lock"));
        Files.delete(lock);
        answered = () -> Files.exists(lock);
        watch.look();
        watch.judgeOnce();
        assertThat(ends).hasSize(1);
        nowNs += AGE.toNanos() / 4;
        watch.judgeOnce();
        assertThat(ends).as("held").containsExactly(Why.DRIVE_SILENT, Why.DRIVE_SILENT);
    }

    @Test
    void a_daemon_that_was_killed_while_its_vm_ran_holds_on() throws Exception {
        run();
        watch = watch();
        watch.look();
        watch.rounded(true);
        watch.look();
        assertThat(isOurs()).isTrue();
        assertThat(watch.held()).isOne();
        takeElsewhere();
        watch.look();
        assertThat(ends).containsExactly(Why.DRIVE_TAKEN);
    }

    @Test
    void a_daemon_that_was_killed_before_the_ledger_knew_lets_go_once_it_has_seen_everything() throws Exception {
        take(() -> true);
        watch = watch();
        watch.rounded(false);
        watch.look();
        assertThat(isOurs()).isTrue();
        watch.rounded(true);
        watch.look();
        assertThat(isOurs()).isFalse();
    }

    @Test
    void a_fault_of_ours_keeps_nobody_from_seeing_that_time_has_passed() throws Exception {
        run();
        CountDownLatch tries = new CountDownLatch(2);
        DriveWatch.Ends faulty = (uuid, why) -> {
            tries.countDown();
            throw new IllegalStateException("a fault");
        };
        try (DriveWatch next =
                new DriveWatch(drives, () -> List.copyOf(ledger), this::plan, faulty, AGE, () -> nowNs)) {
            next.look();
            Files.delete(folder.resolve(Drives.MARK));
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
        watch.rounded(true);
        watch.look();
        assertThat(isOurs()).isTrue();
        ledger.clear();
        watch.look();
        assertThat(isOurs()).isFalse();
    }

    @Test
    void who_waits_for_a_drive_is_left_alone_and_lets_go_when_it_waits_no_more() throws Exception {
        watch.rounded(true);
        takeElsewhereBefore();
        assertThat(take(() -> {
                    watch.look();
                    watch.judgeOnce();
                    return nowNs < AGE.toNanos() / 2;
                }))
                .isFalse();
        assertThat(isOurs()).isTrue();
        watch.built(OWNER);
        watch.look();
        assertThat(isOurs()).isFalse();
        assertThat(ends).isEmpty();
        assertThat(watch.held()).isZero();
    }

    private void takeElsewhereBefore() throws Exception {
        elsewhere.take(USE.drive(), elsewhere.holder(USE.epoch() - 1, OTHER.ticket()), 1, waiting(() -> false));
    }

    @Test
    void a_drive_that_is_refused_or_cannot_be_asked_for_leaves_nothing_to_look_after() throws Exception {
        takeElsewhere();
        assertThatThrownBy(() -> take(() -> true)).isInstanceOf(DriveRefused.class);
        watch.built(OWNER);
        watch.look();
        Files.delete(folder.resolve(Drives.MARK));
        assertThatThrownBy(() -> take(() -> true)).isInstanceOf(StorageSilent.class);
        watch.built(OWNER);
        Files.createFile(folder.resolve(Drives.MARK));
        watch.look();
        assertThat(watch.held()).isZero();
        DriveName drive = USE.drive();
        assertThat(elsewhere.isHeld(drive, elsewhere.holder(LATER.epoch(), OTHER.ticket())))
                .isTrue();
    }
}
