package org.cloister.vm.opening;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.StrictJson;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.WholeFile;
import org.cloister.protocol.policy.Policy;

/**
 * The newest papers that this drive's VMs were given, on the drive: a file for each document by its number, and the policy.
 * They were verified when they were written.
 */
public final class PapersFolder {
    private static final String POLICY = "policy";
    /** Of an envelope around the longest policy. */
    private static final int MAX_POLICY = 1536 * 1024;

    private static final int MAX_DOCUMENT = 1 << 20;

    private final Path folder;

    /** @param folder is made when there is something to write */
    public PapersFolder(Path folder) {
        this.folder = folder;
    }

    /**
     * Empty on a new drive.
     *
     * @throws IOException if they cannot be read: what was seen is not known then
     */
    public Optional<Papers> read() throws IOException {
        if (Files.notExists(folder.resolve(POLICY))) {
            return Optional.empty();
        }
        List<byte[]> documents = new ArrayList<>();
        while (Files.exists(document(documents.size()))) {
            documents.add(WholeFile.read(document(documents.size()), MAX_DOCUMENT));
        }
        byte[] policy = WholeFile.read(folder.resolve(POLICY), MAX_POLICY);
        byte[] payload = StrictJson.read(policy, MAX_POLICY, MAX_POLICY).base64("payload", Policy.MAX_BYTES);
        return Optional.of(new Papers(
                ProjectHistory.of(documents),
                Policy.parse(payload),
                Policy.hash(payload),
                ByteString.copyFrom(policy)));
    }

    /** In the place of older ones; the policy last, so that whoever reads one has its owners. */
    public void write(Papers papers) throws IOException {
        Files.createDirectories(folder);
        List<byte[]> documents = papers.project().envelopes();
        for (int number = 0; number < documents.size(); number++) {
            if (Files.notExists(document(number))) {
                WholeFile.replace(document(number), documents.get(number));
            }
        }
        Path policy = folder.resolve(POLICY);
        byte[] envelope = papers.envelope().toByteArray();
        // The same again needs no new file, which a drive that a member has filled does not give.
        if (Files.notExists(policy) || !Arrays.equals(WholeFile.read(policy, MAX_POLICY), envelope)) {
            WholeFile.replace(policy, envelope);
        }
    }

    private Path document(int number) {
        return folder.resolve("document-" + number);
    }
}
