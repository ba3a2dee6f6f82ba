package org.cloister.vm.boot;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import org.cloister.protocol.evidence.BootKeys;
import org.cloister.vm.SharedFile;

/**
 * A file that says how far the boot is, for whoever looks from within: {@code phase PHASE}, the ids of the public keys, and for
 * each phase reached the seconds from the kernel's start and from this process' own until it was reached last.
 */
public final class BootStatus {
    private final Path file;
    private final Map<BootPhase, Uptime> reached = new EnumMap<>(BootPhase.class);
    private String keys = "";

    private BootStatus(Path file) {
        this.file = file;
    }

    /** In place of what an earlier process of this boot has said. */
    public static BootStatus begin(Path file) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        BootStatus status = new BootStatus(file);
        status.reached(BootPhase.STARTED);
        return status;
    }

    public synchronized void keys(BootKeys shown) throws IOException {
        keys = "signing " + shown.signing() + "\nsealing " + shown.sealing() + "\n";
        reached(BootPhase.KEYS);
    }

    /** @return seconds since the kernel's start */
    public synchronized double reached(BootPhase phase) throws IOException {
        Uptime now = Uptime.now();
        reached.put(phase, now);
        StringBuilder text =
                new StringBuilder("phase ").append(phase).append('\n').append(keys);
        reached.forEach(
                (each, when) -> text.append(each).append(' ').append(when).append('\n'));
        SharedFile.replace(file, text.toString().getBytes(StandardCharsets.US_ASCII));
        return now.kernel().doubleValue();
    }
}
