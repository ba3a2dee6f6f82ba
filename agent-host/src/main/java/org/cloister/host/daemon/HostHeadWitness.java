package org.cloister.host.daemon;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import org.cloister.audit.AuditWitness;
import org.cloister.host.tickets.TicketClaims;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Audit witness of the relays' audit logs: stores the heads that relays send, and reports a log that was truncated or
 * forked.
 */
final class HostHeadWitness implements TicketClaims.AuditHeadListener, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HostHeadWitness.class);

    private final Path folder;
    private final SigningKey key;
    private final Map<String, AuditWitness> keepers = new HashMap<>();
    private final ExecutorService writer = Executors.newSingleThreadExecutor(work -> {
        Thread thread = new Thread(work, "heads");
        thread.setDaemon(true);
        return thread;
    });

    /** @param folder an existing folder, with one file for each relay */
    HostHeadWitness(Path folder, SigningKey key) {
        this.folder = folder;
        this.key = key;
    }

    @Override
    public void onHead(byte[] head, CertifiedIdentity relay) {
        if (head.length == 0) {
            return;
        }
        try {
            writer.execute(() -> keep(head.clone(), relay));
        } catch (RejectedExecutionException e) {
            LOG.debug("audit head dropped: agent-host is stopping");
        }
    }

    private void keep(byte[] head, CertifiedIdentity relay) {
        String id = relay.name().id();
        try {
            AuditWitness keeper = keepers.get(id);
            if (keeper == null) {
                keeper = AuditWitness.open(Files.createDirectories(folder).resolve(id), key);
                keepers.put(id, keeper);
            }
            if (keeper.offer(head, Set.of(relay.key())) instanceof AuditWitness.Alarm alarm) {
                LOG.error("alarm: {}", alarm.text());
            }
        } catch (IOException e) {
            LOG.error("the audit head of {} cannot be stored: {}", id, e.getMessage());
        }
    }

    @Override
    public void close() {
        writer.shutdown();
    }
}
