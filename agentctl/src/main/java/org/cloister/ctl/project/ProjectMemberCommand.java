package org.cloister.ctl.project;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.cloister.base.file.AtomicFile;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.Pem;
import org.cloister.ctl.key.SigningKeyOptions;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code agentctl project member}: certifies a person for roles. */
@Command(
        name = "member",
        description = "Prints a person's request and certifies the person's key for these roles. "
                + "Compare the key with the person before you type the passphrase. The person then "
                + "makes certificates of 24 hours until this one expires.")
final class ProjectMemberCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init")
    private ProjectOption of;

    @Option(
            names = "--role",
            paramLabel = "ROLE",
            required = true,
            description = "Roles to grant: opener, member or exporter, one or more; the same as in the request.")
    @SuppressWarnings("NullAway.Init")
    private Set<CertificateRole> roles;

    @Option(
            names = "--days",
            paramLabel = "NUMBER",
            defaultValue = "7",
            description = "Days until it expires, at most 31; default: ${DEFAULT-VALUE}.")
    private long days;

    @Option(names = "--out", paramLabel = "FILE", required = true, description = "File for the certificate, in PEM.")
    @SuppressWarnings("NullAway.Init")
    private Path out;

    @Option(
            names = "--invitation",
            paramLabel = "FILE",
            description = "File for an invitation with the same certificate, which the person gives to agentctl "
                    + "project join; needs --policy, --site and --relay, or this owner's profile.")
    private @Nullable Path invitation;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private InvitationOptions contents;

    @Parameters(paramLabel = "REQUEST", description = "The person's request, written by agentctl project request.")
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
        Instant now = Instant.now();
        ProjectHistory project = of.readHistory();
        PersonCertificateRequest requested = PersonCertificateRequest.read(file);
        requested.requireFor(project.id(), roles);
        if (invitation != null) {
            // An error in its parts must appear before the person is certified.
            contents.read(of, project, Optional.empty());
        }
        // Printed before the passphrase prompt, so that the owner reads it first.
        output.print(new KeyValueOutput()
                .with("project", project.id())
                .with("person", requested.id())
                .with("roles", requested.roles())
                .with("key", requested.key())
                .with("until", now.plus(Duration.ofDays(days)).truncatedTo(ChronoUnit.SECONDS))
                .with("certificate", out));
        SigningKey key = keys.open(of::key);
        byte[] certificate = ProjectDocumentFiles.authority(project, key)
                .certifyPerson(
                        requested.id(),
                        requested.roles(),
                        SubjectPublicKey.of(requested.key()),
                        now,
                        Duration.ofDays(days));
        AtomicFile.replace(out, Pem.write(Pem.CERTIFICATE, certificate));
        if (invitation != null) {
            AtomicFile.replace(
                    invitation,
                    InvitationOptions.sign(
                            contents.read(of, project, Optional.of(ByteString.copyFrom(certificate))), key));
        }
        return ExitCode.OK.code();
    }
}
