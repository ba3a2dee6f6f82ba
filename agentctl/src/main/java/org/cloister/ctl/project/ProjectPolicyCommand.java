package org.cloister.ctl.project;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.Pem;
import org.cloister.ctl.key.SigningKeyOptions;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.policy.ProjectPolicy;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code agentctl project policy}: signs the owners' policy. */
@Command(
        name = "policy",
        description = "Checks a policy in JSON and signs it; more owners add theirs with agentctl project sign.")
final class ProjectPolicyCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init")
    private ProjectOption of;

    @Option(names = "--out", paramLabel = "FILE", required = true, description = "File for the signed policy.")
    @SuppressWarnings("NullAway.Init")
    private Path out;

    @Parameters(paramLabel = "POLICY", description = "The policy in the format of docs/protocol.md.")
    @SuppressWarnings("NullAway.Init")
    private Path file;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private SigningKeyOptions keys;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        ProjectHistory project = of.readHistory();
        byte[] payload = Pem.readBounded(file, ProjectPolicy.MAX_BYTES);
        ProjectPolicy policy = ProjectDocumentFiles.parsePolicy(file, payload);
        if (!policy.project().equals(project.id())) {
            throw new MalformedException(file + ": project: want " + project.id() + ", have " + policy.project());
        }
        SigningKey key = keys.open(of::key);
        ProjectDocumentFiles.authority(project, key);
        AtomicFile.create(
                out, ProjectDocumentFiles.sign(ProjectPolicy.TYPE, payload, key).bytes());
        output.print(new KeyValueOutput()
                .with("project", project.id())
                .with("serial", policy.serial())
                .with("policy", out)
                .with("key", key.verificationKey()));
        return ExitCode.OK.code();
    }
}
