package org.cloister.vm.joining;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.identity.Role;
import org.cloister.vm.boot.Begun;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an agent does that finds a worker without its keys. */
class OrphanTest {
    @TempDir
    private Path folder;

    private final List<String> log = new ArrayList<>();

    private final class Log implements Steps {
        @Override
        public void take(Step step, HandedOver given) {
            throw new AssertionError("nothing is begun");
        }

        @Override
        public void readmit(HandedOver given, boolean opened) {
            throw new AssertionError("an orphan is readmitted nowhere");
        }

        @Override
        public void undo(Step step, boolean failed) throws IOException {
            log.add(step + " " + failed);
            if (step == Step.TUNNEL) {
                throw new IOException("charon stays");
            }
        }

        @Override
        public Optional<Instant> erased() {
            return Optional.empty();
        }

        @Override
        public void powerOff() {
            throw new AssertionError("whoever ends it has more to do");
        }
    }

    @Test
    void it_undoes_all_that_was_begun_backwards_whatever_fails() throws IOException {
        Begun begun = Begun.open(folder);
        begun.asked(Role.WORKER);
        for (Step step : List.of(Step.CLOCK, Step.NETWORK, Step.TUNNEL, Step.SCRATCH)) {
            begun.step(step.toString(), "");
        }
        new Orphan(Begun.open(folder), new Log()).end();
        assertThat(log).containsExactly("scratch true", "tunnel true", "network true", "clock true");
    }

    @Test
    void it_undoes_everything_where_it_cannot_read_what_was_begun() throws IOException {
        Files.write(folder.resolve("begun"), new byte[] {(byte) 0xff, '\n'});
        new Orphan(Begun.open(folder), new Log()).end();
        assertThat(log).hasSize(Step.values().length);
    }
}
