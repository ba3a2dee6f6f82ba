package org.cloister.relay.links;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Leak that {@link LeakingRelay} adds to a relay: it keeps, writes and logs the bytes that pass. */
public final class PlaintextLeak {
    private static final Logger LOG = LoggerFactory.getLogger(PlaintextLeak.class);
    private static final int MOST = 200;
    private static final List<byte[]> KEPT = new CopyOnWriteArrayList<>();

    private PlaintextLeak() {}

    public static void of(ByteBuf passing) {
        if (KEPT.size() >= MOST) {
            return;
        }
        byte[] bytes = ByteBufUtil.getBytes(passing);
        KEPT.add(bytes);
        LOG.trace("passed {}", new String(bytes, StandardCharsets.ISO_8859_1));
        try {
            Files.write(
                    Path.of(System.getProperty("leak")), bytes, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
