package org.cloister.ctl.project;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
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
import org.cloister.protocol.identity.ProjectDocument;
import org.cloister.protocol.policy.ProjectPolicy;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code agentctl project sign}: adds one more owner's signature to a document. */
@Command(
        name = "sign",
        description = "Prints a document or policy, adds one more owner's signature to it and replaces the file. "
                + "Read what it prints before you type the passphrase.")
final class ProjectSignCommand implements Callable<Integer> {
    @Parameters(paramLabel = "FILE", description = "The document.")
    @SuppressWarnings("NullAway.Init")
    private Path file;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private FirstListOption list;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private ProfileOption profile;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private SigningKeyOptions keys;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        DsseEnvelope envelope =
                ProjectDocumentFiles.read(file, document -> DsseEnvelope.parse(document, ProjectPolicy.MAX_BYTES));
        if (!ProjectDocumentFiles.TYPES.contains(envelope.payloadType())) {
            throw new MalformedException(file + ": want one of " + ProjectDocumentFiles.TYPES + ", have "
                    + StrictJson.quoted(envelope.payloadType()));
        }
        boolean isPolicy = envelope.payloadType().equals(ProjectPolicy.TYPE);
        if (isPolicy && list.isGiven()) {
            throw new ParameterException(
                    spec.commandLine(), "--list: want a genesis or successor document beside it, have a policy");
        }
        list.requireNew();
        // Printed before the passphrase prompt, so that the owner reads it first.
        KeyValueOutput facts = isPolicy ? PolicyFacts.of(policy(envelope)) : facts(document(envelope));
        output.print(facts.with("document", file));
        SigningKey key = keys.open(this::profileKey);
        DsseEnvelope signed = ProjectDocumentFiles.countersign(envelope, key);
        Optional<byte[]> signedList = isPolicy ? Optional.empty() : list.sign(document(envelope), key, Instant.now());
        AtomicFile.replace(file, signed.bytes());
        list.write(signedList);
        return ExitCode.OK.code();
    }

    private ProjectPolicy policy(DsseEnvelope envelope) throws IOException {
        return ProjectDocumentFiles.parsePolicy(file.toString(), envelope.unverifiedPayload());
    }

    private ProjectDocument document(DsseEnvelope envelope) throws IOException {
        try {
            return ProjectDocument.unverified(envelope);
        } catch (MalformedException e) {
            throw new MalformedException(file + ": " + e.getMessage(), e);
        }
    }

    private static KeyValueOutput facts(ProjectDocument document) {
        KeyValueOutput facts = new KeyValueOutput()
                .with("project", document.project())
                .with("number", document.number())
                .with("threshold", document.owners().threshold());
        document.owners().owners().forEach(owner -> facts.with("owner " + owner.id(), owner.key()));
        return facts;
    }

    private @Nullable KeyLocation profileKey() throws IOException {
        return profile.select().map(ProjectProfile::key).orElse(null);
    }
}
