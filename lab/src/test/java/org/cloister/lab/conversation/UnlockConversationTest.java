package org.cloister.lab.conversation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.cloister.ctl.Cli;
import org.cloister.ctl.OpenerFixture;
import org.cloister.lab.SampledScenario;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.VmEndReport;
import org.cloister.protocol.ticket.Opening;
import org.cloister.transport.circuit.FaultyPath;
import org.cloister.transport.circuit.PathFault;
import org.cloister.transport.circuit.PathFault.Direction;
import org.cloister.transport.circuit.PathFault.Kind;
import org.cloister.vm.controller.drive.EndReportFile;
import org.cloister.vm.controller.unlock.UnlockRefused;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * agentctl and a controlling VM's agent, each as it is, over circuits of which each loses a record or is cut behind one: a VM that
 * was given its keys is open and its opener knows it, or it was given nothing and its opener knows that.
 */
@Timeout(600)
@SuppressWarnings("NullAway") // what is missing shows as a failed test
class UnlockConversationTest extends OpenerFixture {
    /** Records of each message in an opening without a fault, as the path counts them. */
    private record RecordCounts(int question, int evidenceRecords, int unlock, int toTarget, int toOpener) {}

    /** One opening, and what both ends say of it. */
    private final class UnlockRun implements SimulatedControllerVm.DriveAction, AutoCloseable {
        final Queue<PathFault> faults;
        final Queue<FaultyPath> paths = new ConcurrentLinkedQueue<>();
        final AtomicInteger questions = new AtomicInteger();
        Optional<UnlockRefused> fault = Optional.empty();
        /** Circuits that the VM has to be dialled on before its drive is open. */
        int slow;

        Optional<EndReportFile> endReport = Optional.empty();
        final CountDownLatch acknowledged = new CountDownLatch(1);
        private Optional<VmEndReport> lastEnd = Optional.empty();
        private final int number;

        private final CompletableFuture<Cli.Result> result;
        private SimulatedControllerVm vm;
        private volatile FaultyPath last;
        private volatile int question;
        private volatile int evidenceRecords;
        private volatile int unlock;

        UnlockRun(List<PathFault> faults) throws Exception {
            this(1, faults);
        }

        /** @param number of the device's opening, of which the first creates the drive */
        UnlockRun(int number, List<PathFault> faults) throws Exception {
            this.number = number;
            this.faults = new ArrayDeque<>(faults);
            paths(this::next);
            this.result = number == 1 ? open() : reopen();
        }

        private synchronized FaultyPath next() {
            last = new FaultyPath(Optional.ofNullable(faults.poll()));
            paths.add(last);
            return last;
        }

        @Override
        public void asked() {
            questions.incrementAndGet();
            question = last.records(Direction.TO_TARGET) - 1;
            evidenceRecords = last.records(Direction.TO_OPENER);
        }

        @Override
        public void opens() throws InterruptedException {
            unlock = paths.stream()
                            .mapToInt(path -> path.records(Direction.TO_TARGET))
                            .max()
                            .orElse(0)
                    - 1;
            while (vm.dials.get() < slow) {
                new CountDownLatch(1).await(20, TimeUnit.MILLISECONDS);
            }
        }

        @Override
        public Optional<UnlockRefused> fault() {
            return fault;
        }

        @Override
        public Optional<VmEndReport> lastEnd() {
            lastEnd = endReport.flatMap(EndReportFile::read);
            return lastEnd;
        }

        @Override
        public void acknowledged() {
            endReport.ifPresent(file -> lastEnd.ifPresent(file::delete));
            acknowledged.countDown();
        }

        Cli.Result result() throws Exception {
            Opening opening = opened(number);
            vm = new SimulatedControllerVm(host(), relayAddress(), believed(), owners(), opening, this);
            vm.boot();
            runs(opening);
            return result.get(120, TimeUnit.SECONDS);
        }

        RecordCounts course() {
            return new RecordCounts(
                    question,
                    evidenceRecords,
                    unlock,
                    last.records(Direction.TO_TARGET),
                    last.records(Direction.TO_OPENER));
        }

        void requireOpen(Cli.Result result) {
            assertThat(result.err()).as("%s", faults).isEmpty();
            assertThat(result.out()).contains("\"vm\" : \"open\"", "\"found\" : \"made\"");
            assertThat(vm.opened).as("how often it was opened").hasValue(1);
            assertThat(vm.statements).as("of one host, which vouches once").hasSize(1);
            assertThat(vm.ends).as("why it ends").isEmpty();
            assertThat(faults).as("what no circuit was left for").isEmpty();
            assertThat(paths.stream().filter(path -> !path.happened()))
                    .as("circuits that nothing happened to")
                    .hasSizeLessThanOrEqualTo(1);
        }

        @Override
        public void close() {
            vm.close();
        }
    }

    private static PathFault fault(Direction direction, int record, Kind kind) {
        return new PathFault(direction, record, kind);
    }

    private RecordCounts sound() throws Exception {
        try (UnlockRun stage = new UnlockRun(List.of())) {
            stage.requireOpen(stage.result());
            return stage.course();
        }
    }

    @Test
    @Tag("scenario")
    @Tag("boundary")
    @SampledScenario(value = 0, cases = 3)
    void each_circuit_that_ends_before_the_keys_is_followed_by_another_and_the_vm_is_opened_once() throws Exception {
        RecordCounts counts = sound();
        restart();
        List<PathFault> all = new ArrayList<>();
        for (int record = 0; record < counts.question(); record++) {
            all.add(fault(Direction.TO_TARGET, record, Kind.CUT_AFTER));
        }
        for (int record = 0; record < counts.evidenceRecords(); record++) {
            all.add(fault(Direction.TO_OPENER, record, Kind.CUT_AFTER));
        }
        for (Kind lost : List.of(Kind.CUT_BEFORE, Kind.STALL)) {
            all.add(fault(Direction.TO_TARGET, counts.question(), lost));
            all.add(fault(Direction.TO_OPENER, counts.evidenceRecords(), lost));
        }
        all.add(fault(Direction.TO_TARGET, counts.question(), Kind.CUT_AFTER));
        try (UnlockRun stage = new UnlockRun(all)) {
            stage.requireOpen(stage.result());
            assertThat(stage.paths).hasSize(all.size() + 1);
            assertThat(stage.questions).as("questions that the VM has heard").hasValueGreaterThan(2);
        }
    }

    @Test
    @Tag("scenario")
    @Tag("boundary")
    @SampledScenario(value = 0, cases = 3)
    void whatever_is_lost_after_the_keys_both_ends_know_whether_the_drive_is_open() throws Exception {
        RecordCounts counts = sound();
        for (Kind lost : List.of(Kind.CUT_BEFORE, Kind.STALL)) {
            restart();
            try (UnlockRun stage = new UnlockRun(List.of(fault(Direction.TO_TARGET, counts.unlock(), lost)))) {
                Cli.Result result = stage.result();
                assertThat(result.status()).as("%s", lost).isEqualTo(2);
                assertThat(result.err()).contains("it is still booting, and the keys that it received are lost");
                assertThat(stage.vm.opened)
                        .as("what was lost is not given again")
                        .hasValue(0);
            }
        }
        List<PathFault> each = new ArrayList<>(List.of(fault(Direction.TO_TARGET, counts.unlock(), Kind.CUT_AFTER)));
        for (int record = counts.evidenceRecords() + 1; record < counts.toOpener(); record++) {
            each.add(fault(Direction.TO_OPENER, record, Kind.CUT_BEFORE));
            each.add(fault(Direction.TO_OPENER, record, Kind.CUT_AFTER));
        }
        for (PathFault fault : each) {
            restart();
            try (UnlockRun stage = new UnlockRun(List.of(fault))) {
                stage.requireOpen(stage.result());
            }
        }
    }

    @Test
    @Tag("scenario")
    @Tag("boundary")
    @SampledScenario(value = 0, cases = 3)
    void each_later_circuit_that_ends_is_followed_by_another_until_the_opener_has_heard_of_the_drive()
            throws Exception {
        RecordCounts counts = sound();
        PathFault first = fault(Direction.TO_TARGET, counts.unlock(), Kind.CUT_AFTER);
        restart();
        RecordCounts later;
        try (UnlockRun stage = new UnlockRun(List.of(first))) {
            stage.requireOpen(stage.result());
            later = stage.course();
        }
        restart();
        List<PathFault> all = new ArrayList<>(List.of(first));
        for (int record = 0; record < later.toTarget() - 1; record++) {
            all.add(fault(Direction.TO_TARGET, record, Kind.CUT_AFTER));
        }
        for (int record = 0; record < later.toOpener() - 2; record++) {
            all.add(fault(Direction.TO_OPENER, record, Kind.CUT_AFTER));
        }
        try (UnlockRun stage = new UnlockRun(all)) {
            stage.requireOpen(stage.result());
        }
    }

    @Test
    void a_circuit_that_breaks_while_the_drive_is_still_checked_ends_nobody() throws Exception {
        RecordCounts counts = sound();
        restart();
        List<PathFault> faults = List.of(
                fault(Direction.TO_TARGET, counts.unlock(), Kind.CUT_AFTER),
                fault(Direction.TO_OPENER, counts.evidenceRecords() - 1, Kind.CUT_AFTER));
        try (UnlockRun stage = new UnlockRun(faults)) {
            stage.slow = 3;
            stage.requireOpen(stage.result());
        }
    }

    @Test
    void a_drive_that_does_not_open_is_told_of_on_a_later_circuit_too() throws Exception {
        RecordCounts counts = sound();
        restart();
        try (UnlockRun stage = new UnlockRun(List.of(fault(Direction.TO_TARGET, counts.unlock(), Kind.CUT_AFTER)))) {
            stage.fault = Optional.of(new UnlockRefused(BootPhase.DRIVE, "drive-epoch", new IOException("a test")));
            Cli.Result result = stage.result();
            assertThat(result.err()).contains("it failed in phase drive: drive-epoch");
            assertThat(result.status()).isEqualTo(2);
            assertThat(stage.vm.ends).hasSize(1);
        }
    }

    @Test
    void why_a_vm_ended_itself_is_shown_at_each_opening_until_an_acknowledgement_arrives(@TempDir Path drive)
            throws Exception {
        EndReportFile file = new EndReportFile(drive);
        RecordCounts counts;
        try (UnlockRun first = new UnlockRun(List.of())) {
            first.endReport = Optional.of(file);
            first.requireOpen(first.result());
            counts = first.course();
        }
        VmEndReport end = VmEndReport.of(Instant.parse("2026-06-02T09:30:00Z"), "the project cannot start:\na test");
        file.write(end);
        PathFault lost = fault(Direction.TO_TARGET, counts.unlock() + 1, Kind.CUT_BEFORE);
        try (UnlockRun second = new UnlockRun(2, List.of(lost))) {
            second.endReport = Optional.of(file);
            requireShown(second.result());
            assertThat(second.paths).hasSize(1).allMatch(FaultyPath::happened);
            assertThat(file.read()).as("what nobody acknowledged").contains(end);
        }
        try (UnlockRun third = new UnlockRun(3, List.of())) {
            third.endReport = Optional.of(file);
            requireShown(third.result());
            assertThat(third.acknowledged.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(drive).isEmptyDirectory();
        }
        try (UnlockRun fourth = new UnlockRun(4, List.of())) {
            fourth.endReport = Optional.of(file);
            assertThat(fourth.result().err()).as("after an ordinary end").isEmpty();
            assertThat(fourth.acknowledged.getCount()).isOne();
        }
    }

    private static void requireShown(Cli.Result result) {
        assertThat(result.status()).isZero();
        assertThat(result.err())
                .isEqualTo("agentctl: warning: the last time this drive was open, its VM ended itself at "
                        + "2026-06-02T09:30:00Z: the project cannot start: a test\n");
        assertThat(result.out()).contains("\"vm\" : \"open\"", "\"found\" : \"epoch");
    }
}
