package org.cloister.relay.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.cloister.relay.state.StateSamples.PROJECT;
import static org.cloister.relay.state.StateSamples.list;
import static org.cloister.relay.state.StateSamples.request;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Copies of the files as a power cut would leave them: taken within transactions, and with a log that ends anywhere. */
class StatePowerCutTest {
    private static final int TICKETS = 12;

    @TempDir
    Path folder = Path.of("");

    private Path file = Path.of("");
    private Path log = Path.of("");

    @BeforeEach
    void files() {
        file = folder.resolve("relay.db");
        log = folder.resolve("relay.db-wal");
    }

    @Test
    void a_transaction_that_the_power_cut_met_was_done_whole_or_not_at_all() throws Exception {
        Random random = new Random(11);
        try (RelayDatabase state = RelayDatabase.open(file, NetworkPool.DEFAULT)) {
            for (int i = 1; i <= TICKETS; i++) {
                int before = i - 1;
                String id = "t" + i;
                state.<Boolean, Exception>transact(t -> {
                    t.tickets().insert(request(id, PROJECT, before + 1), new byte[5000], new byte[5000]);
                    t.numbers().allocate(id, PROJECT, 2);
                    t.outbox().add(new byte[100]);
                    assertThat(afterCut(Files.readAllBytes(log))).isEqualTo(before);
                    return true;
                });
                byte[] whole = Files.readAllBytes(log);
                assertThat(afterCut(whole)).isEqualTo(i);
                byte[] torn = Arrays.copyOf(whole, random.nextInt(whole.length));
                assertThat(afterCut(torn)).isBetween(0, i);
            }
        }
    }

    /** @return how many tickets are there; each of them with its addresses and its record */
    private int afterCut(byte[] wal) throws IOException {
        Path copy = folder.resolve("copy.db");
        Files.write(copy, Files.readAllBytes(file));
        Files.write(folder.resolve("copy.db-wal"), wal);
        try (RelayDatabase state = RelayDatabase.open(copy, NetworkPool.DEFAULT)) {
            List<TicketRow> open = list(state, t -> t.tickets().open());
            for (TicketRow row : open) {
                assertThat(StateSamples.maybe(state, t -> t.numbers().find(row.id())))
                        .hasValueSatisfying(
                                lease -> assertThat(lease.addresses()).hasSize(2));
            }
            assertThat(list(state, t -> t.outbox().pending(0, 1000))).hasSameSizeAs(open);
            return open.size();
        }
    }
}
