package org.cloister.ctl.project;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.KeyOptions;
import org.cloister.ctl.output.Facts;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.StrictJson;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.WholeFile;
import org.cloister.protocol.policy.Policy;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code agentctl project sign}: one more owner's signature. */
@Command(
        name = "sign",
        description =
                "Adds the signature of one more owner to a document or policy, in its place. Read it before with agentctl project show.")
final class ProjectSignCommand implements Callable<Integer> {
    @Parameters(paramLabel = "FILE", description = "The document.")
    @SuppressWarnings("NullAway.Init")
    private Path file;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private KeyOptions keys;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        Envelope envelope = Documents.read(file, document -> Envelope.parse(document, Policy.MAX_BYTES));
        if (!Documents.TYPES.contains(envelope.payloadType())) {
            throw new MalformedException(
                    file + ": want one of " + Documents.TYPES + ", have " + StrictJson.quoted(envelope.payloadType()));
        }
        SigningKey key = keys.open(null);
        WholeFile.replace(file, Documents.countersign(envelope, key).bytes());
        output.print(new Facts().with("document", file).with("key", key.verificationKey()));
        return ExitCode.OK.code();
    }
}
