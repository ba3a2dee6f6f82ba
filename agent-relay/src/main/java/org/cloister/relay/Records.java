package org.cloister.relay;

import java.io.IOException;
import java.nio.file.Path;
import java.security.KeyPair;
import java.time.InstantSource;
import org.cloister.daemon.Fatal;
import org.cloister.protocol.audit.log.AuditLog;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.Credential;
import org.cloister.relay.state.NetworkPool;
import org.cloister.relay.state.State;
import org.cloister.relay.ticket.AuditRoom;

/**
 * What the relay writes down, both in its state folder.
 *
 * @param key the relay's own, which signs heads and allocations
 * @param room that the log has
 */
record Records(State state, AuditLog log, SigningKey key, InstantSource clock, AuditRoom room)
        implements AutoCloseable {
    private static final String DATABASE = "relay.db";
    private static final String AUDIT = "audit";

    /**
     * @param own the relay's
     * @param fatal as the state has it
     */
    static Records open(Path folder, Name relay, Credential own, NetworkPool pool, InstantSource clock, Fatal fatal)
            throws IOException {
        SigningKey key = SigningKey.of(new KeyPair(own.chain().get(0).getPublicKey(), own.key()));
        State state = State.open(folder.resolve(DATABASE), pool, fatal);
        try {
            AuditLog log = AuditLog.open(folder.resolve(AUDIT), relay.toString(), key, clock);
            return new Records(state, log, key, clock, AuditRoom.of(log::freeBytes));
        } catch (IOException | RuntimeException e) {
            state.close();
            throw e;
        }
    }

    @Override
    @SuppressWarnings("try") // both end, whatever one of them says
    public void close() throws IOException {
        try (State first = state;
                AuditLog second = log) {
            // Nothing to do but that.
        }
    }
}
