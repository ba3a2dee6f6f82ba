package org.cloister.host.receipt;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.cloister.host.disk.Erasing;
import org.cloister.host.disk.Erasure;
import org.cloister.host.ledger.Action;
import org.cloister.host.ledger.End;
import org.cloister.host.ledger.Entry;
import org.cloister.host.ledger.Machine;
import org.cloister.host.ledger.Part;
import org.cloister.host.ledger.Seen;
import org.cloister.host.ledger.Step;
import org.cloister.host.vm.VmOwner;
import org.cloister.protocol.receipt.HostPart;
import org.cloister.protocol.receipt.ScratchEnd;
import org.cloister.protocol.receipt.VmEnd;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The daemon is killed before and after each write of a VM's whole life, and again at each write of what follows. */
class PartsKilledTest {
    private static final VmOwner OWNER = Samples.OWNER;

    @TempDir
    private Path folder;

    /** What outlives the daemon: ledger, scratch file and the relay's database. */
    private static final class World implements Machine {
        private Optional<Entry> entry = Optional.of(Entry.claim(OWNER, true, 0));
        private Step step = Step.MOVED;
        private long scratch = 1 << 20;
        private boolean unlinked;
        private byte @Nullable [] reported;
        private @Nullable Parts parts;
        private Instant now = Samples.NOW;

        Parts parts() {
            return Objects.requireNonNull(parts);
        }

        void end(End.Why why) {
            if (entry.isPresent() && entry.get().end().isEmpty()) {
                entry = Optional.of(Samples.entry(OWNER, step, why));
            }
        }

        @Override
        public void remove(VmOwner owner, Part part) throws IOException {
            if (part == Part.SCRATCH && !unlinked) {
                long bytes = scratch;
                scratch = 0;
                parts().erased(new Erasure(owner, Erasing.OVERWRITE, bytes, bytes));
                unlinked = true;
            }
        }

        CompletableFuture<Void> report(String ticket, int slot, byte[] statement) {
            if (reported != null) {
                assertThat(statement).isEqualTo(reported);
            }
            reported = statement.clone();
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public Seen look() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void resume(VmOwner owner) {}

        @Override
        public void reopen(VmOwner owner) {}

        @Override
        public void askOff(VmOwner owner) {}
    }

    private KilledLives start(World world, int point) throws IOException {
        KilledLives lives = new KilledLives(new LifeFolder(folder), point);
        world.parts = new Parts(lives, Samples.KEY, () -> world.now);
        return lives;
    }

    private static void up(World world) throws IOException {
        world.parts().running(OWNER, Samples.facts(OWNER, 1), Samples.TICKET);
        world.step = Step.RUNNING;
    }

    /** What a host does of itself, from wherever it was. */
    private static void down(World world) throws IOException {
        world.now = world.now.plusSeconds(10);
        world.end(world.step == Step.RUNNING ? End.Why.ASKED : End.Why.INTERRUPTED);
        Parts parts = world.parts();
        WitnessedMachine machine = new WitnessedMachine(world, parts, uuid -> world.entry);
        if (world.entry.isPresent()) {
            machine.remove(OWNER, Part.DOMAIN);
            machine.remove(OWNER, Part.SCRATCH);
        }
        List<Action> done = world.entry
                .<List<Action>>map(entry -> List.of(new Action.Forget(OWNER, new End(End.Why.ASKED, "", 1))))
                .orElse(List.of());
        world.entry = Optional.empty();
        parts.rounded(done, true, List::of);
        Reporting reporting = new Reporting(parts, world::report, () -> world.now);
        reporting.look();
        reporting.look();
    }

    /** @return points that it has after the first death */
    private int live(int first, int second) throws IOException {
        World world = new World();
        KilledLives lives = start(world, first);
        try {
            up(world);
            down(world);
        } catch (KilledLives.Killed e) {
            lives = start(world, second);
            try {
                down(world);
            } catch (KilledLives.Killed again) {
                start(world, 0);
                down(world);
            }
        }
        check(world);
        return lives.passed();
    }

    private void check(World world) throws IOException {
        try (var files = Files.list(folder)) {
            assertThat(files).isEmpty();
        }
        byte[] reported = world.reported;
        if (world.step != Step.RUNNING) {
            assertThat(reported).isNull();
            return;
        }
        HostPart part = Samples.part(Objects.requireNonNull(reported));
        assertThat(part.facts()).isEqualTo(Samples.facts(OWNER, 1));
        assertThat(part.digest()).isEqualTo(Samples.TICKET);
        assertThat(part.started()).isEqualTo(Samples.NOW);
        assertThat(part.end()).isEqualTo(VmEnd.STOPPED);
        assertThat(part.ended()).isAfter(part.started());
        assertThat(part.scratch()).isPresent().get().isNotEqualTo(ScratchEnd.NONE);
        assertThat(part.removed().orElseThrow()).isAfterOrEqualTo(part.ended());
    }

    @Test
    void a_part_is_signed_once_and_reported_wherever_the_daemon_is_killed() throws IOException {
        int points = live(0, 0);
        assertThat(points).isEqualTo(10);
        int seconds = 0;
        for (int first = 1; first <= points; first++) {
            int after = live(first, 0);
            for (int second = 1; second <= after; second++) {
                live(first, second);
                seconds++;
            }
        }
        assertThat(seconds).isGreaterThan(points);
    }
}
