package org.cloister.ctl.project;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.Callable;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.base.json.StrictJson;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.SigningKeyOptions;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code agentctl project request}: writes a person's request for roles. */
@Command(
        name = "request",
        description = "Writes a request for roles, signed by the person's own key. Send it to an owner, "
                + "and tell the owner the key's id over another channel.")
final class ProjectRequestCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init")
    private ProjectOption of;

    @Option(
            names = "--role",
            paramLabel = "ROLE",
            required = true,
            description = "Role: opener, member or exporter; may be given more than once.")
    @SuppressWarnings("NullAway.Init")
    private Set<CertificateRole> roles;

    @Option(names = "--out", paramLabel = "FILE", required = true, description = "File for the request.")
    @SuppressWarnings("NullAway.Init")
    private Path out;

    @Parameters(paramLabel = "ID", description = "The person's label in names; the relay sees it.")
    @SuppressWarnings("NullAway.Init")
    private String id;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private SigningKeyOptions keys;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        String project = of.readHistory().id();
        if (!CertificateName.isLabel(id)) {
            throw new MalformedException(
                    "id: want a-z, 0-9 and -, at most 63 characters, have " + StrictJson.quoted(id));
        }
        SigningKey key = keys.open(of::key);
        AtomicFile.replace(out, PersonCertificateRequest.write(id, project, roles, key));
        output.print(new KeyValueOutput()
                .with("project", project)
                .with("person", id)
                .with("roles", roles)
                .with("key", key.verificationKey())
                .with("request", out));
        return ExitCode.OK.code();
    }
}
