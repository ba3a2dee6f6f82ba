package org.cloister.vm.controller.unlock;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.cloister.base.file.AtomicFile;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.policy.ProjectPolicy;

/**
 * The newest papers that this drive's VMs were given, on the drive: a file for each document by its number, and the policy.
 * They were verified when they were written.
 */
public final class ProjectDocumentsFolder {
    private static final String POLICY = "policy";
    /** Of an envelope around the longest policy. */
    private static final int MAX_POLICY = 1536 * 1024;

    private static final int MAX_DOCUMENT = 1 << 20;

    private final Path folder;

    /** @param folder is made when there is something to write */
    public ProjectDocumentsFolder(Path folder) {
        this.folder = folder;
    }

    /**
     * Empty on a new drive.
     *
     * @throws IOException if they cannot be read: what was seen is not known then
     */
    public Optional<ProjectDocuments> read() throws IOException {
        if (Files.notExists(folder.resolve(POLICY))) {
            return Optional.empty();
        }
        List<byte[]> documents = new ArrayList<>();
        while (Files.exists(document(documents.size()))) {
            documents.add(AtomicFile.read(document(documents.size()), MAX_DOCUMENT));
        }
        byte[] policy = AtomicFile.read(folder.resolve(POLICY), MAX_POLICY);
        byte[] payload = StrictJson.read(policy, MAX_POLICY, MAX_POLICY).base64("payload", ProjectPolicy.MAX_BYTES);
        return Optional.of(new ProjectDocuments(
                ProjectHistory.of(documents),
                ProjectPolicy.parse(payload),
                ProjectPolicy.hash(payload),
                ByteString.copyFrom(policy)));
    }

    /** In the place of older ones; the policy last, so that whoever reads one has its owners. */
    public void write(ProjectDocuments papers) throws IOException {
        Files.createDirectories(folder);
        List<byte[]> documents = papers.history().envelopes();
        for (int number = 0; number < documents.size(); number++) {
            if (Files.notExists(document(number))) {
                AtomicFile.replace(document(number), documents.get(number));
            }
        }
        Path policy = folder.resolve(POLICY);
        byte[] envelope = papers.policyEnvelope().toByteArray();
        // The same again needs no new file, which a drive that a member has filled does not give.
        if (Files.notExists(policy) || !Arrays.equals(AtomicFile.read(policy, MAX_POLICY), envelope)) {
            AtomicFile.replace(policy, envelope);
        }
    }

    private Path document(int number) {
        return folder.resolve("document-" + number);
    }
}
