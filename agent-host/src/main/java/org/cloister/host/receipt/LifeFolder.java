package org.cloister.host.receipt;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.identity.WholeFile;

/** A file a VM, {@code UUID.json}, in a folder of their own. */
final class LifeFolder implements Lives {
    private static final String END = ".json";
    /** What was being written when the process ended. */
    private static final String HALF = ".json.new";

    private final Path folder;

    /** @param folder is there, and nobody else writes to it */
    LifeFolder(Path folder) {
        this.folder = folder;
    }

    @Override
    public List<Life> all() throws IOException {
        List<Life> all = new ArrayList<>();
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

    private Life read(Path file) throws IOException {
        try {
            long size = Files.size(file);
            if (size > LifeDocument.MAX_BYTES) {
                throw new MalformedException("want at most " + LifeDocument.MAX_BYTES + " bytes, have " + size);
            }
            Life life = LifeDocument.read(Files.readAllBytes(file));
            if (!file.equals(file(life))) {
                throw new MalformedException(
                        "want the VM of its name, have " + life.owner().uuid());
            }
            return life;
        } catch (MalformedException e) {
            throw new IOException(
                    file + ": " + e.getMessage() + "; nobody but us writes here: move it away, and that VM's receipt"
                            + " goes without this host's part",
                    e);
        }
    }

    @Override
    public void put(Life life) throws IOException {
        WholeFile.replace(file(life), LifeDocument.write(life));
    }

    @Override
    public void drop(Life life) throws IOException {
        Files.deleteIfExists(file(life));
    }

    private Path file(Life life) {
        return folder.resolve(life.owner().uuid() + END);
    }
}
