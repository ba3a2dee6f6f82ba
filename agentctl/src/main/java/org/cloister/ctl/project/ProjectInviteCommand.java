package org.cloister.ctl.project;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.cloister.base.file.AtomicFile;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.SigningKeyOptions;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.profile.NamedContents;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.ProjectInvitation;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code agentctl project invite}: writes an invitation for a person who is certified already, or for an owner. */
@Command(
        name = "invite",
        description = "Writes one file for a person's device, signed by an owner, with the project's documents, its "
                + "policy, the site's certificate, the relay's address and the person's certificate. The person "
                + "gives it to agentctl project join. agentctl project member --invitation writes it too, with a new "
                + "certificate.")
final class ProjectInviteCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init")
    private ProjectOption of;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private InvitationOptions contents;

    @Option(
            names = "--certificate",
            paramLabel = "FILE",
            description = "Certificate of the person who joins, written by agentctl project member; an owner without "
                    + "one omits it.")
    private @Nullable Path certificate;

    @Option(names = "--out", paramLabel = "FILE", required = true, description = "File for the invitation.")
    @SuppressWarnings("NullAway.Init")
    private Path out;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private SigningKeyOptions keys;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        ProjectHistory owners = of.readHistory();
        Optional<ByteString> person = Optional.empty();
        String name = "an owner";
        if (certificate != null) {
            NamedContents file = NamedContents.readCertificate(certificate);
            name = PersonCertificate.read(owners, file).id();
            person = Optional.of(file.bytes());
        }
        ProjectInvitation invitation = contents.read(of, owners, person);
        SigningKey key = keys.open(of::key);
        ProjectDocumentFiles.authority(owners, key);
        AtomicFile.replace(out, InvitationOptions.sign(invitation, key));
        output.print(new KeyValueOutput()
                .with("project", owners.id())
                .with("person", name)
                .with("relay", invitation.relay())
                .with("invitation", out)
                .with("key", key.verificationKey()));
        return ExitCode.OK.code();
    }
}
