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
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.evidence.EvidenceStore;
import org.cloister.protocol.evidence.VmFacts;

/**
 * One file a VM life, {@code VM.json}, in a folder of its own. A file is written beside, flushed and then linked under its
 * name: it is there whole or not at all, and the first one wins.
 */
public final class EvidenceFileStore implements EvidenceStore {
    private final Path folder;

    /** @param folder exists, on a file system with hard links */
    public EvidenceFileStore(Path folder) {
        this.folder = folder;
    }

    @Override
    public Optional<byte[]> find(String vm) throws IOException {
        Path file = file(vm);
        try (InputStream in = Files.newInputStream(file)) {
            byte[] payload = in.readNBytes(EvidenceStatement.MAX_BYTES + 1);
            if (payload.length > EvidenceStatement.MAX_BYTES) {
                throw new MalformedException(file + ": want at most " + EvidenceStatement.MAX_BYTES
                        + " bytes, have more; nobody but us writes here");
            }
            // Who linked it may have been ended before this.
            flushFolder();
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
        flushFolder();
    }

    /** Forgets all but these lives, and what a crash left half written; call it when the VMs are gone for certain. */
    public void retain(Set<String> lives) throws IOException {
        try (var files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                String name = file.getFileName().toString();
                boolean half = name.startsWith(".") && name.endsWith(".new");
                boolean gone = name.endsWith(".json") && !lives.contains(name.substring(0, name.length() - 5));
                if (half || gone) {
                    Files.deleteIfExists(file);
                }
            }
        }
        flushFolder();
    }

    private Path file(String vm) {
        if (!VmFacts.ID.matcher(vm).matches()) {
            throw new IllegalArgumentException("vm: want " + VmFacts.ID + ", have \"" + vm + "\"");
        }
        return folder.resolve(vm + ".json");
    }

    private void flushFolder() throws IOException {
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }
}
