package org.cloister.host.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import org.cloister.host.ticket.Claims;
import org.cloister.protocol.audit.HeadKeeper;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.Identity;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** This host as a witness of the relays' audit logs: keeps what heads it is shown, and says when a log is not what it was. */
final class HeadWitness implements Claims.Heads, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HeadWitness.class);

    private final Path folder;
    private final SigningKey key;
    private final Map<String, HeadKeeper> keepers = new HashMap<>();
    private final ExecutorService writer = Executors.newSingleThreadExecutor(work -> {
        Thread thread = new Thread(work, "heads");
        thread.setDaemon(true);
        return thread;
    });

    /** @param folder exists; a file of each relay is in it */
    HeadWitness(Path folder, SigningKey key) {
        this.folder = folder;
        this.key = key;
    }

    @Override
    public void head(byte[] head, Identity relay) {
        if (head.length == 0) {
            return;
        }
        try {
            writer.execute(() -> keep(head.clone(), relay));
        } catch (RejectedExecutionException e) {
            LOG.debug("a head came when this host ended");
        }
    }

    private void keep(byte[] head, Identity relay) {
        String id = relay.name().id();
        try {
            HeadKeeper keeper = keepers.get(id);
            if (keeper == null) {
                keeper = HeadKeeper.open(Files.createDirectories(folder).resolve(id), key);
                keepers.put(id, keeper);
            }
            if (keeper.offer(head, Set.of(relay.key())) instanceof HeadKeeper.Alarm alarm) {
                LOG.error("alarm: {}", alarm.text());
            }
        } catch (IOException e) {
            LOG.error("audit head of {} not kept: {}", id, e.getMessage());
        }
    }

    @Override
    public void close() {
        writer.shutdown();
    }
}
