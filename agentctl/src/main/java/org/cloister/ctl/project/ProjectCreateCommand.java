package org.cloister.ctl.project;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.SigningKeyOptions;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.ProjectDocument;
import org.cloister.protocol.identity.ProjectOwners;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code agentctl project create}: writes a genesis or a successor document. */
@Command(
        name = "create",
        description = "Writes a genesis document with its owners and threshold, signed by one owner; "
                + "with --project, the successor document. A genesis needs the signatures of all "
                + "its owners, a successor those of the threshold and of each new owner.")
final class ProjectCreateCommand implements Callable<Integer> {
    @Option(
            names = "--owner",
            paramLabel = "ID=FILE",
            required = true,
            description = "An owner and the file of its public key; two or more.")
    @SuppressWarnings("NullAway.Init")
    private Map<String, Path> owners;

    @Option(
            names = "--threshold",
            paramLabel = "NUMBER",
            required = true,
            description = "Number of owners who must sign a change of the project.")
    private int threshold;

    @Option(
            names = "--project",
            paramLabel = "FILE",
            description = "For a successor: the genesis, then the successor documents in order.")
    private List<Path> history = List.of();

    @Option(names = "--out", paramLabel = "FILE", required = true, description = "File for the document.")
    @SuppressWarnings("NullAway.Init")
    private Path out;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private FirstListOption list;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private SigningKeyOptions keys;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        ProjectOwners listed = owners();
        list.requireNew();
        Instant now = Instant.now();
        boolean first = history.isEmpty();
        byte[] payload = first
                ? ProjectDocument.genesis(listed, now, new SecureRandom())
                : ProjectDocumentFiles.readHistory(history).successor(listed, now);
        String type = first ? ProjectDocument.GENESIS : ProjectDocument.SUCCESSOR;
        SigningKey key = keys.open();
        DsseEnvelope envelope = ProjectDocumentFiles.sign(type, payload, key);
        Optional<byte[]> signedList = list.sign(ProjectDocument.unverified(envelope), key, now);
        AtomicFile.create(out, envelope.bytes());
        list.write(signedList);
        output.print(new KeyValueOutput()
                .with("digest", BinaryText.base32(envelope.payloadSha256().bytes()))
                .with("document", out)
                .with("owners", listed.owners().size())
                .with("threshold", threshold));
        return ExitCode.OK.code();
    }

    private ProjectOwners owners() throws IOException {
        List<ProjectOwners.Owner> listed = new ArrayList<>();
        for (Map.Entry<String, Path> each : owners.entrySet()) {
            listed.add(new ProjectOwners.Owner(each.getKey(), ProjectDocumentFiles.readPublicKey(each.getValue())));
        }
        try {
            return new ProjectOwners(threshold, listed);
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }
}
