package org.cloister.relay.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AuditOutboxTest {
    @TempDir
    Path folder = Path.of("");

    private RelayDatabase state;

    @BeforeEach
    void open() throws RelayDatabaseException {
        state = RelayDatabase.open(folder.resolve("relay.db"), NetworkPool.DEFAULT);
    }

    @AfterEach
    void close() {
        state.close();
    }

    @Test
    void records_wait_in_order_until_they_are_done_and_their_ids_never_come_again() throws Exception {
        assertThat(add("a")).isEqualTo(1);
        assertThat(add("b")).isEqualTo(2);
        assertThat(add("c")).isEqualTo(3);
        assertThat(StateSamples.list(state, t -> t.outbox().pending(0, 2)))
                .extracting(record -> new String(record.body(), StandardCharsets.UTF_8))
                .containsExactly("a", "b");
        assertThat(StateSamples.list(state, t -> t.outbox().pending(2, 9)))
                .extracting(AuditOutbox.Pending::id)
                .containsExactly(3L);
        done(3);
        assertThat(StateSamples.number(state, t -> t.outbox().size())).isZero();
        state.close();
        open();
        assertThat(add("d")).isEqualTo(4);
        assertThat(StateSamples.list(state, t -> t.outbox().pending(0, 9)))
                .extracting(AuditOutbox.Pending::id)
                .containsExactly(4L);
    }

    @Test
    void a_record_of_a_transaction_that_was_undone_is_not_there() throws Exception {
        assertThatThrownBy(() -> state.transact(t -> {
                    t.outbox().add(new byte[] {1});
                    throw new IllegalStateException("undone");
                }))
                .hasMessage("undone");
        assertThat(StateSamples.number(state, t -> t.outbox().size())).isZero();
    }

    @Test
    void marks_outlive_a_restart_until_they_are_cleared() throws Exception {
        mark("draining", "by root");
        mark("draining", "by hand");
        state.close();
        open();
        assertThat(StateSamples.maybe(state, t -> t.marks().get("draining"))).hasValue("by hand");
        state.transact(t -> {
            t.marks().clear("draining");
            return true;
        });
        assertThat(StateSamples.maybe(state, t -> t.marks().get("draining"))).isEmpty();
        assertThatThrownBy(() -> mark("pool.network", "mine")).isInstanceOf(IllegalArgumentException.class);
    }

    private void mark(String name, String value) throws RelayDatabaseException {
        state.transact(t -> {
            t.marks().set(name, value);
            return true;
        });
    }

    private long add(String text) throws RelayDatabaseException {
        return StateSamples.number(state, t -> t.outbox().add(text.getBytes(StandardCharsets.UTF_8)));
    }

    private void done(long upTo) throws RelayDatabaseException {
        state.transact(t -> {
            t.outbox().markWritten(upTo);
            return true;
        });
    }
}
