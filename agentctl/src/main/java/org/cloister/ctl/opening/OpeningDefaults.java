package org.cloister.ctl.opening;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.ticket.ResourceRequest;

/**
 * Values that an opening of a drive had from its options, and that later ones have by default.
 *
 * @param minutes the VM's time limit
 * @param driveKey absolute path of the opener's private drive key; empty if another secret opened the drive
 * @param mtu MTU of the network between VMs
 */
record OpeningDefaults(int cpus, int memoryMib, int minutes, Optional<Path> driveKey, int mtu) {
    private static final String FORMAT = "cloister-opening-defaults-v1";
    private static final int MAX_BYTES = 8 * 1024;
    private static final int MAX_MTU = 65535;
    private static final Pattern ABSOLUTE = Pattern.compile("/[^\\x00-\\x1f\\x7f]{1,4095}");

    /** Returns what is stored; empty if nothing is. */
    static Optional<OpeningDefaults> read(Path file) throws IOException {
        if (!AtomicFile.exists(file)) {
            return Optional.empty();
        }
        try {
            StrictJson json = StrictJson.read(AtomicFile.read(file, MAX_BYTES), MAX_BYTES);
            json.requireFormat(FORMAT);
            OpeningDefaults stored = new OpeningDefaults(
                    (int) json.number("cpus", 1, Integer.MAX_VALUE),
                    (int) json.number("memoryMiB", 1, ResourceRequest.MAX_MIB),
                    (int) json.number("minutes", 1, Integer.MAX_VALUE),
                    json.has("driveKey") ? Optional.of(Path.of(json.text("driveKey", ABSOLUTE))) : Optional.empty(),
                    (int) json.number("mtu", 1, MAX_MTU));
            json.requireNothingElse();
            return Optional.of(stored);
        } catch (MalformedException e) {
            throw new MalformedException(
                    file + ": " + e.getMessage() + "; delete it, and give --cpus, --memory, --days and --drive-key", e);
        }
    }

    /** Replaces what is stored; it is on disk when this returns. */
    void write(Path file) throws IOException {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("format", FORMAT)
                .put("cpus", cpus)
                .put("memoryMiB", memoryMib)
                .put("minutes", minutes)
                .put("mtu", mtu);
        driveKey.ifPresent(path -> json.put("driveKey", path.toString()));
        Files.createDirectories(file.toAbsolutePath().getParent());
        AtomicFile.replace(file, json.toString().getBytes(StandardCharsets.UTF_8));
    }
}
