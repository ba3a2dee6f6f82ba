package org.cloister.host.receipts;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;

/** Stores one file per VM, {@code UUID.json}, in a folder of its own. */
final class VmHistoryFolder implements HostStatements.VmHistoryStore {
    private static final String END = ".json";
    /** Suffix of files that were being written when a process ended. */
    private static final String HALF = ".json.new";

    private final Path folder;

    /** @param folder an existing folder that no other program writes to */
    VmHistoryFolder(Path folder) {
        this.folder = folder;
    }

    @Override
    public List<VmHistory> all() throws IOException {
        List<VmHistory> all = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                if (file.toString().endsWith(HALF)) {
                    Files.delete(file);
                } else {
                    all.add(read(file));
                }
            }
        }
        return all;
    }

    private VmHistory read(Path file) throws IOException {
        try {
            long size = Files.size(file);
            if (size > VmHistoryJson.MAX_BYTES) {
                throw new MalformedException("want at most " + VmHistoryJson.MAX_BYTES + " bytes, have " + size);
            }
            VmHistory history = VmHistoryJson.read(Files.readAllBytes(file));
            if (!file.equals(file(history))) {
                throw new MalformedException("expected the VM of its file name, got "
                        + history.owner().uuid());
            }
            return history;
        } catch (MalformedException e) {
            throw new IOException(
                    file + ": " + e.getMessage()
                            + "; only agent-host may write here, so move the file away: the VM's receipt"
                            + " will lack this host's statement",
                    e);
        }
    }

    @Override
    public void put(VmHistory history) throws IOException {
        AtomicFile.replace(file(history), VmHistoryJson.write(history));
    }

    @Override
    public void drop(VmHistory history) throws IOException {
        Files.deleteIfExists(file(history));
    }

    private Path file(VmHistory history) {
        return folder.resolve(history.owner().uuid() + END);
    }
}
