package org.cloister.relay;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.cloister.protocol.MalformedException;

/** The newest revocation list of each issuer, on disk before it acts. Reading is from any thread. */
final class RevocationBoard {
    private static final String SUFFIX = ".revocations";

    private final Path folder;
    private final RevocationList.Reader reader;
    private final Map<String, RevocationList> lists = new ConcurrentHashMap<>();

    private RevocationBoard(Path folder, RevocationList.Reader reader) {
        this.folder = folder;
        this.reader = reader;
    }

    /** @param folder exists; what lies in it was put there by {@link #take} */
    static RevocationBoard open(Path folder, RevocationList.Reader reader) throws IOException {
        RevocationBoard board = new RevocationBoard(folder, reader);
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*" + SUFFIX)) {
            for (Path file : files) {
                try {
                    RevocationList list = reader.read(Files.readAllBytes(file));
                    board.lists.put(list.issuer(), list);
                } catch (MalformedException e) {
                    throw new IOException(file + ": " + e.getMessage() + "; deliver the newest list again", e);
                }
            }
        }
        return board;
    }

    /** @throws IOException it is not a list, or not newer than the one in force, or cannot be kept */
    synchronized RevocationList take(byte[] signed) throws IOException {
        RevocationList list = reader.read(signed);
        RevocationList before = lists.get(list.issuer());
        if (before != null && before.number() >= list.number()) {
            throw new MalformedException("revocation list: want a number above " + before.number() + ", have "
                    + list.number() + "; deliver the newest one");
        }
        Path file = folder.resolve(list.issuer() + SUFFIX);
        Path draft = folder.resolve(list.issuer() + ".new");
        try (FileChannel out = FileChannel.open(
                draft, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            ByteBuffer bytes = ByteBuffer.wrap(signed);
            while (bytes.hasRemaining()) {
                out.write(bytes);
            }
            out.force(true);
        }
        Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        try (FileChannel directory = FileChannel.open(folder, StandardOpenOption.READ)) {
            directory.force(true);
        }
        lists.put(list.issuer(), list);
        return list;
    }

    boolean isRevoked(X509Certificate certificate) {
        return lists.values().stream().anyMatch(list -> list.revokes().test(certificate));
    }

    Collection<RevocationList> lists() {
        return lists.values();
    }
}
