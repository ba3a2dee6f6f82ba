package org.cloister.ctl.project;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.KeyOptions;
import org.cloister.ctl.key.Pem;
import org.cloister.ctl.output.Facts;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.StrictJson;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Authority;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.identity.SubjectKey;
import org.cloister.protocol.identity.WholeFile;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code agentctl project member}: gives a person roles. */
@Command(
        name = "member",
        description =
                "Certifies a person's key for one or more roles. The person then makes certificates of 24 hours for itself, until this one ends.")
final class ProjectMemberCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init")
    private ProjectOption of;

    @Option(
            names = "--role",
            paramLabel = "ROLE",
            required = true,
            description = "opener, member or exporter; may be given more than once.")
    @SuppressWarnings("NullAway.Init")
    private Set<Role> roles;

    @Option(names = "--public", paramLabel = "FILE", required = true, description = "The person's public key.")
    @SuppressWarnings("NullAway.Init")
    private Path publicKey;

    @Option(
            names = "--days",
            paramLabel = "NUMBER",
            defaultValue = "7",
            description = "How long it holds, at most 31; default: ${DEFAULT-VALUE}.")
    private long days;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            required = true,
            description = "Where the certificate is written, in PEM.")
    @SuppressWarnings("NullAway.Init")
    private Path out;

    @Parameters(paramLabel = "ID", description = "The person's label in names; the relay sees it.")
    @SuppressWarnings("NullAway.Init")
    private String id;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private KeyOptions keys;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        ProjectHistory project = of.read();
        Authority owner = Documents.authority(project, keys.open(null));
        VerificationKey key = Documents.publicKey(publicKey);
        if (!Name.isLabel(id)) {
            throw new MalformedException(
                    "id: want a-z, 0-9 and -, at most 63 characters, have " + StrictJson.quoted(id));
        }
        byte[] certificate = owner.certifyPerson(id, roles, SubjectKey.of(key), Instant.now(), Duration.ofDays(days));
        WholeFile.replace(out, Pem.write(Pem.CERTIFICATE, certificate));
        output.print(new Facts()
                .with("project", project.id())
                .with("person", id)
                .with("roles", roles)
                .with("key", key)
                .with("certificate", out));
        return ExitCode.OK.code();
    }
}
