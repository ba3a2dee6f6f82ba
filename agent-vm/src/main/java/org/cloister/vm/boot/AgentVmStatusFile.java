package org.cloister.vm.boot;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.OptionalDouble;
import org.cloister.base.file.WorldReadableFile;
import org.cloister.protocol.evidence.BootPublicKeys;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * File that reports the boot's progress to observers inside the VM: {@code phase PHASE}, the ids of the public keys,
 * and, for each phase reached, the seconds from the kernel's start and from this process' start until the phase was
 * last reached.
 */
public final class AgentVmStatusFile {
    private static final Logger LOG = LoggerFactory.getLogger(AgentVmStatusFile.class);

    private final Path file;
    private final Map<AgentVmPhase, Uptime> reached = new EnumMap<>(AgentVmPhase.class);
    private String keys = "";

    private AgentVmStatusFile(Path file) {
        this.file = file;
    }

    /** Creates the file and replaces that of an earlier process of this boot. */
    public static AgentVmStatusFile create(Path file) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        AgentVmStatusFile status = new AgentVmStatusFile(file);
        status.writePhase(AgentVmPhase.STARTED);
        return status;
    }

    public synchronized void writeKeys(BootPublicKeys publicKeys) throws IOException {
        keys = "signing " + publicKeys.signing() + "\nsealing " + publicKeys.sealing() + "\n";
        writePhase(AgentVmPhase.KEYS);
    }

    /**
     * Records that the phase is reached.
     *
     * @return seconds since the kernel's start
     */
    public synchronized double writePhase(AgentVmPhase phase) throws IOException {
        Uptime now = Uptime.now();
        reached.put(phase, now);
        StringBuilder text =
                new StringBuilder("phase ").append(phase).append('\n').append(keys);
        reached.forEach(
                (each, uptime) -> text.append(each).append(' ').append(uptime).append('\n'));
        WorldReadableFile.replace(file, text.toString().getBytes(StandardCharsets.US_ASCII));
        return now.kernel().doubleValue();
    }

    /**
     * Records that the phase is reached; logs a failure and continues, since nothing depends on the file.
     *
     * @return seconds since the kernel's start; empty if the file was not written
     */
    public OptionalDouble reportPhase(AgentVmPhase phase) {
        try {
            return OptionalDouble.of(writePhase(phase));
        } catch (IOException e) {
            LOG.warn("status file: cannot be written: {}; check its folder", e.toString());
            return OptionalDouble.empty();
        }
    }
}
