package org.cloister.ctl.project;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.base.json.StrictJson;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.KeyLocation;
import org.cloister.ctl.key.SigningKeyOptions;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.profile.ProfileOption;
import org.cloister.ctl.profile.ProjectProfile;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.policy.ProjectPolicy;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code agentctl project sign}: adds one more owner's signature to a document. */
@Command(
        name = "sign",
        description = "Adds one more owner's signature to a document or policy and replaces the file. "
                + "Read it first with agentctl project show.")
final class ProjectSignCommand implements Callable<Integer> {
    @Parameters(paramLabel = "FILE", description = "The document.")
    @SuppressWarnings("NullAway.Init")
    private Path file;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private ProfileOption profile;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private SigningKeyOptions keys;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        DsseEnvelope envelope =
                ProjectDocumentFiles.read(file, document -> DsseEnvelope.parse(document, ProjectPolicy.MAX_BYTES));
        if (!ProjectDocumentFiles.TYPES.contains(envelope.payloadType())) {
            throw new MalformedException(file + ": want one of " + ProjectDocumentFiles.TYPES + ", have "
                    + StrictJson.quoted(envelope.payloadType()));
        }
        SigningKey key = keys.open(this::profileKey);
        AtomicFile.replace(file, ProjectDocumentFiles.countersign(envelope, key).bytes());
        output.print(new KeyValueOutput().with("document", file).with("key", key.verificationKey()));
        return ExitCode.OK.code();
    }

    private @Nullable KeyLocation profileKey() throws IOException {
        return profile.select().map(ProjectProfile::key).orElse(null);
    }
}
