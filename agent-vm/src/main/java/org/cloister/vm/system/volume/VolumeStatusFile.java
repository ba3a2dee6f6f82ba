package org.cloister.vm.system.volume;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import org.cloister.base.file.WorldReadableFile;
import org.cloister.luks.volume.Cryptsetup;
import org.cloister.luks.volume.MappingName;
import org.cloister.luks.volume.VolumeMapping;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * File on tmpfs that describes this VM's volumes (docs/image.md): how each is mapped and encrypted, its used space, and
 * whether it was erased. Logs a write failure and continues, since no volume depends on the file. Thread-safe.
 */
public final class VolumeStatusFile {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeStatusFile.class);
    private static final int VERSION = 1;

    private final Path file;
    private final VolumeMetrics metrics;
    private final InstantSource clock;
    private final Map<VolumeName, Volume> volumes = new EnumMap<>(VolumeName.class);

    private enum State {
        OPEN,
        /** Inaccessible from this VM, and intact. */
        CLOSED,
        /** Erased: key and header are destroyed. */
        ERASED,
        /** Left in place, since it could not be closed and erased. */
        LEFT
    }

    /**
     * A volume and its state.
     *
     * @param at where it is mounted, or was
     */
    private record Volume(State state, Instant since, VolumeMapping mapping, Path at) {
        Volume in(State next, Instant now) {
            return new Volume(next, now, mapping, at);
        }
    }

    /** Creates the file's writer; it replaces what an earlier process of this boot wrote. */
    public VolumeStatusFile(Path file, VolumeMetrics metrics, InstantSource clock) {
        this.file = file;
        this.metrics = metrics;
        this.clock = clock;
    }

    /**
     * Records that a volume is mapped and mounted.
     *
     * @throws IOException if there is no such mapping
     */
    public void recordOpened(VolumeName name, Cryptsetup cryptsetup, MappingName mapping, Path at) throws IOException {
        recordOpened(
                name,
                cryptsetup
                        .status(mapping)
                        .orElseThrow(() -> new IOException(mapping.path() + ": want a mapping, have none")),
                at);
    }

    /** Records that a volume is mounted, with the state of its mapping. */
    synchronized void recordOpened(VolumeName name, VolumeMapping mapping, Path at) {
        volumes.put(name, new Volume(State.OPEN, clock.instant(), mapping, at));
        refresh();
    }

    public void recordClosed(VolumeName name) {
        setState(name, State.CLOSED, clock.instant());
    }

    public void recordErased(VolumeName name, Instant when) {
        setState(name, State.ERASED, when);
    }

    public void recordNotErased(VolumeName name) {
        setState(name, State.LEFT, clock.instant());
    }

    private synchronized void setState(VolumeName name, State state, Instant when) {
        if (volumes.computeIfPresent(name, (same, volume) -> volume.in(state, when)) != null) {
            refresh();
        }
    }

    /** Reads the used space of the open volumes and writes the file. */
    public synchronized void refresh() {
        ObjectNode document = JsonNodeFactory.instance.objectNode().put("v", VERSION);
        volumes.forEach((name, volume) -> {
            OptionalLong used = volume.state == State.OPEN ? usedBytes(volume.at) : OptionalLong.empty();
            metrics.setVolumeUsage(name, volume.state == State.OPEN ? volume.mapping.bytes() : 0, used.orElse(0));
            document.set(name.toString(), document(volume, used));
        });
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            WorldReadableFile.replace(file, document.toString().getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            LOG.warn("volume status file {}: cannot be written: {}; check its folder", file, e.toString());
        }
    }

    private static ObjectNode document(Volume volume, OptionalLong used) {
        ObjectNode document = JsonNodeFactory.instance
                .objectNode()
                .put("state", volume.state.name().toLowerCase(Locale.ROOT))
                .put("since", volume.since.truncatedTo(ChronoUnit.SECONDS).toString())
                .put("mapping", volume.mapping.name().text())
                .put("at", volume.at.toString())
                .put("cipher", volume.mapping.cipher())
                .put("bytes", volume.mapping.bytes());
        used.ifPresent(bytes -> document.put("used", bytes));
        return document;
    }

    /** Returns the used bytes; empty if the file system does not report them. */
    private static OptionalLong usedBytes(Path at) {
        try {
            FileStore store = Files.getFileStore(at);
            return OptionalLong.of(Math.max(0, store.getTotalSpace() - store.getUnallocatedSpace()));
        } catch (IOException e) {
            LOG.warn("volume at {}: its used space cannot be read: {}", at, e.toString());
            return OptionalLong.empty();
        }
    }
}
