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
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.policy.ProjectPolicy;

/**
 * The newest project documents that VMs received with this drive, on the drive: one file per document by its number,
 * and the policy. They were verified before they were written.
 */
public final class ProjectDocumentsFolder {
    private static final String POLICY = "policy";
    /** Limit of an envelope with the longest policy. */
    private static final int MAX_POLICY = 1536 * 1024;

    private static final int MAX_DOCUMENT = 1 << 20;

    private final Path folder;

    /** @param folder created when there is something to write */
    public ProjectDocumentsFolder(Path folder) {
        this.folder = folder;
    }

    /**
     * Returns the stored documents; empty on a new drive.
     *
     * @throws IOException if they cannot be read: it would be unknown which documents were seen
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
        byte[] payload = DsseEnvelope.parse(policy, MAX_POLICY).unverifiedPayload();
        return Optional.of(new ProjectDocuments(
                ProjectHistory.of(documents),
                ProjectPolicy.parse(payload),
                ProjectPolicy.hash(payload),
                ByteString.copyFrom(policy)));
    }

    /** Replaces older documents; the policy comes last, so that a reader of the policy has its owners. */
    public void write(ProjectDocuments projectDocuments) throws IOException {
        Files.createDirectories(folder);
        List<byte[]> documents = projectDocuments.history().envelopes();
        for (int number = 0; number < documents.size(); number++) {
            if (Files.notExists(document(number))) {
                AtomicFile.replace(document(number), documents.get(number));
            }
        }
        Path policy = folder.resolve(POLICY);
        byte[] envelope = projectDocuments.policyEnvelope().toByteArray();
        // An unchanged policy needs no new file, which could not be created on a drive that a member has filled.
        if (Files.notExists(policy) || !Arrays.equals(AtomicFile.read(policy, MAX_POLICY), envelope)) {
            AtomicFile.replace(policy, envelope);
        }
    }

    private Path document(int number) {
        return folder.resolve("document-" + number);
    }
}
