package org.cloister.ovs.ovsdb;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.Map;
import org.cloister.ovs.link.OvsException.Malformed;

/** Whatever rows a server tells, a copy of them or a {@link Malformed}: nothing else is thrown, and nothing hangs. */
class RowFuzz {
    private static final Columns COLUMNS = new Columns(Map.of(
            "Bridge", Map.of("name", Columns.Kind.SCALAR, "ports", Columns.Kind.MANY, "ids", Columns.Kind.MANY)));

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
            JsonRpcFuzz.requireText(e);
        }
    }
}
