package org.cloister.ovs.ovsdb;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.Map;
import org.cloister.ovs.io.OvsException.Malformed;

/** Any rows from a server give a copy of them or a {@link Malformed}: nothing else is thrown, and nothing hangs. */
class OvsdbRowFuzz {
    private static final OvsdbColumns COLUMNS = new OvsdbColumns(Map.of(
            "Bridge",
            Map.of("name", OvsdbColumns.Kind.SCALAR, "ports", OvsdbColumns.Kind.MANY, "ids", OvsdbColumns.Kind.MANY)));

    @FuzzTest(maxDuration = "60s")
    void reads_rows(byte[] bytes) {
        OvsdbReplica database = new OvsdbReplica(COLUMNS);
        try {
            if (JsonRpc.read(bytes) instanceof JsonRpc.Message.Reply reply) {
                database.update2(reply.result());
                database.update2(reply.result());
                for (OvsdbRow row : database.rows("Bridge")) {
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
