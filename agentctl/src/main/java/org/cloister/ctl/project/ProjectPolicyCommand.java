package org.cloister.ctl.project;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.KeyOptions;
import org.cloister.ctl.key.Pem;
import org.cloister.ctl.output.Facts;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.WholeFile;
import org.cloister.protocol.policy.Policy;
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

    @Option(names = "--out", paramLabel = "FILE", required = true, description = "Where the signed policy is written.")
    @SuppressWarnings("NullAway.Init")
    private Path out;

    @Parameters(paramLabel = "POLICY", description = "The policy, as docs/protocol.md has it.")
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
        ProjectHistory project = of.read();
        byte[] payload = Pem.bytes(file, Policy.MAX_BYTES);
        Policy policy = Documents.policy(file, payload);
        if (!policy.project().equals(project.id())) {
            throw new MalformedException(file + ": project: want " + project.id() + ", have " + policy.project());
        }
        SigningKey key = keys.open(null);
        Documents.authority(project, key);
        WholeFile.create(out, Documents.sign(Policy.TYPE, payload, key).bytes());
        output.print(new Facts()
                .with("project", project.id())
                .with("serial", policy.serial())
                .with("policy", out)
                .with("key", key.verificationKey()));
        return ExitCode.OK.code();
    }
}
