package org.cloister.ovs.ovsdb;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.Map;
import org.cloister.ovs.link.OvsException.Malformed;

/** Whatever bytes a server sends, a message or a {@link Malformed}: nothing else is thrown, and nothing hangs. */
class ReaderFuzz {
    private static final Columns COLUMNS = new Columns(Map.of(
            "Bridge", Map.of("name", Columns.Kind.SCALAR, "ports", Columns.Kind.MANY, "ids", Columns.Kind.MANY)));

    @FuzzTest(maxDuration = "60s")
    void reads_messages(byte[] bytes) {
        try {
            JsonRpc.read(bytes);
        } catch (Malformed e) {
            // As it should.
            requireMessage(e);
        }
    }

    @FuzzTest(maxDuration = "60s")
    void reads_rows(byte[] bytes) {
        Database database = new Database(COLUMNS);
        try {
            if (JsonRpc.read(bytes) instanceof JsonRpc.Message.Reply reply) {
                database.update2(reply.result());
                database.update2(reply.result());
                for (Row row : database.rows("Bridge")) {
                    row.text("name");
                    row.references("ports");
                    row.labels("ids");
                }
            }
        } catch (Malformed e) {
            requireMessage(e);
        }
    }

    private static void requireMessage(Malformed e) {
        if (e.getMessage() == null || e.getMessage().length() > 10_000) {
            throw new IllegalStateException("not a message for an operator", e);
        }
    }
}
