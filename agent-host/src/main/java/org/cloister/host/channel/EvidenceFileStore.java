package org.cloister.host.channel;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.Set;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.evidence.EvidenceStore;
import org.cloister.protocol.evidence.VmFacts;

/**
 * Stores one file per VM run, {@code VM.json}, in a folder of its own. It writes a temporary file, flushes it and
 * links it under its name: the file exists complete or not at all, and the first one is kept.
 */
public final class EvidenceFileStore implements EvidenceStore {
    private final Path folder;

    /** @param folder an existing folder, on a file system with hard links */
    public EvidenceFileStore(Path folder) {
        this.folder = folder;
    }

    @Override
    public Optional<byte[]> find(String vm) throws IOException {
        Path file = file(vm);
        try (InputStream in = Files.newInputStream(file)) {
            byte[] payload = in.readNBytes(EvidenceStatement.MAX_BYTES + 1);
            if (payload.length > EvidenceStatement.MAX_BYTES) {
                throw new MalformedException(file + ": expected at most " + EvidenceStatement.MAX_BYTES
                        + " bytes, got more; only agent-host may write to this folder");
            }
            // The process that linked the file may have been killed before it flushed the folder.
            AtomicFile.syncFolder(folder);
            return Optional.of(payload);
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }

    @Override
    public void store(String vm, byte[] payload) throws IOException {
        Path file = file(vm);
        Path beside = Files.createTempFile(folder, "." + vm + "-", ".new");
        try {
            try (FileChannel out = FileChannel.open(beside, StandardOpenOption.WRITE)) {
                ByteBuffer bytes = ByteBuffer.wrap(payload);
                while (bytes.hasRemaining()) {
                    out.write(bytes);
                }
                out.force(true);
            }
            Files.createLink(file, beside);
        } finally {
            Files.deleteIfExists(beside);
        }
        AtomicFile.syncFolder(folder);
    }

    /**
     * Deletes all files except those of these VMs, and unfinished files that a crash left; call it only when the VMs
     * are known to be gone.
     */
    public void retain(Set<String> uuids) throws IOException {
        try (var files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                String name = file.getFileName().toString();
                boolean half = name.startsWith(".") && name.endsWith(".new");
                boolean former = name.endsWith(".json") && !uuids.contains(name.substring(0, name.length() - 5));
                if (half || former) {
                    Files.deleteIfExists(file);
                }
            }
        }
        AtomicFile.syncFolder(folder);
    }

    private Path file(String vm) {
        if (!VmFacts.ID.matcher(vm).matches()) {
            throw new IllegalArgumentException("vm: want " + VmFacts.ID + ", have \"" + vm + "\"");
        }
        return folder.resolve(vm + ".json");
    }
}
