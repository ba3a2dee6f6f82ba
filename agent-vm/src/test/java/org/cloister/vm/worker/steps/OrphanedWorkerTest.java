package org.cloister.vm.worker.steps;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.vm.boot.BootJournal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests an agent that finds a worker without its keys. */
class OrphanedWorkerTest {
    @TempDir
    private Path folder;

    private final List<String> log = new ArrayList<>();

    private final class RecordedActions implements NodeSetup {
        @Override
        public void apply(SetupStep step, AcceptedHandover handover) {
            throw new AssertionError("nothing is begun");
        }

        @Override
        public void applyReadmission(AcceptedHandover handover, boolean opened) {
            throw new AssertionError("an orphan is readmitted nowhere");
        }

        @Override
        public void undo(SetupStep step, boolean failed) throws IOException {
            log.add(step + " " + failed);
            if (step == SetupStep.TUNNEL) {
                throw new IOException("charon stays");
            }
        }

        @Override
        public Optional<Instant> scratchErasedAt() {
            return Optional.empty();
        }

        @Override
        public void powerOff() {
            throw new AssertionError("whoever ends it has more to do");
        }
    }

    @Test
    void it_undoes_all_that_was_begun_backwards_whatever_fails() throws IOException {
        BootJournal journal = BootJournal.open(folder);
        journal.recordEvidenceRequest(CertificateRole.WORKER);
        for (SetupStep step : List.of(SetupStep.CLOCK, SetupStep.NETWORK, SetupStep.TUNNEL, SetupStep.SCRATCH)) {
            journal.recordStep(step.toString(), "");
        }
        new OrphanedWorker(BootJournal.open(folder), new RecordedActions()).cleanUp();
        assertThat(log).containsExactly("scratch true", "tunnel true", "network true", "clock true");
    }

    @Test
    void it_undoes_everything_where_it_cannot_read_what_was_begun() throws IOException {
        Files.write(folder.resolve("begun"), new byte[] {(byte) 0xff, '\n'});
        new OrphanedWorker(BootJournal.open(folder), new RecordedActions()).cleanUp();
        assertThat(log).hasSize(SetupStep.values().length);
    }
}
