package org.cloister.ctl.project;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.Callable;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.Pem;
import org.cloister.ctl.key.SigningKeyOptions;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.policy.ProjectPolicy;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code agentctl project policy}: signs the owners' policy. */
@Command(
        name = "policy",
        description = "Makes a policy from options and the policy before it, or checks one in JSON that was written by "
                + "hand; prints it, and signs it. Compare what it prints before you type the passphrase. More owners "
                + "add their signatures with agentctl project sign. Requirements that it lowers are named in it.")
final class ProjectPolicyCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init")
    private ProjectOption of;

    @Option(names = "--out", paramLabel = "FILE", required = true, description = "File for the signed policy.")
    @SuppressWarnings("NullAway.Init")
    private Path out;

    @Parameters(
            paramLabel = "POLICY",
            arity = "0..1",
            description = "A policy in the format of docs/protocol.md, instead of the options for its contents.")
    private @Nullable Path file;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private PolicyOptions options;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private SigningKeyOptions keys;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        ProjectHistory project = of.readHistory();
        byte[] payload;
        if (file == null) {
            payload = options.payload(of, project, Instant.now());
        } else {
            options.requireNone();
            payload = Pem.readBounded(file, ProjectPolicy.MAX_BYTES);
        }
        String name = file == null ? "policy" : file.toString();
        ProjectPolicy policy = ProjectDocumentFiles.parsePolicy(name, payload);
        if (!policy.project().equals(project.id())) {
            throw new MalformedException(name + ": project: want " + project.id() + ", have " + policy.project());
        }
        // Printed before the passphrase prompt, so that the owner reads it first.
        output.print(PolicyFacts.of(policy).with("policy", out));
        SigningKey key = keys.open(of::key);
        ProjectDocumentFiles.authority(project, key);
        AtomicFile.create(
                out, ProjectDocumentFiles.sign(ProjectPolicy.TYPE, payload, key).bytes());
        return ExitCode.OK.code();
    }
}
