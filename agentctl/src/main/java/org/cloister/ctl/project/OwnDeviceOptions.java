package org.cloister.ctl.project;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import org.cloister.base.file.AtomicFile;
import org.cloister.ctl.key.Pem;
import org.cloister.ctl.key.SigningKeyOptions;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** Options with which an owner's own device joins, without another person's invitation. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields before use
final class OwnDeviceOptions {
    @Mixin
    private ProjectOption of;

    @Mixin
    private InvitationOptions contents;

    @Option(
            names = "--role",
            paramLabel = "ROLE",
            description = "For an owner without FILE: certify the owner's own key for this role, opener, member or "
                    + "exporter; may be given more than once.")
    private Set<CertificateRole> roles = Set.of();

    @Option(
            names = "--days",
            paramLabel = "NUMBER",
            defaultValue = "7",
            description = "With --role: days until the certificate expires, at most 31; default: ${DEFAULT-VALUE}.")
    private long days;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "With --role: file for a copy of the certificate, in PEM, by which agentctl project revoke "
                    + "can revoke it.")
    private @Nullable Path out;

    @Spec
    private CommandSpec own;

    @Spec(Target.MIXEE)
    private CommandSpec spec;

    /** Invitation of an owner to themselves, as it was signed, and the key that signed it. */
    record OwnInvitation(ByteString envelope, VerificationKey key) {}

    /** Rejects these options beside another person's invitation. */
    void requireNone() {
        UnusedOptions.reject(own, spec, ": only for an owner without FILE; an invitation has all this");
    }

    /**
     * Certifies the owner's key for the roles, if any are given, and signs an invitation with it.
     *
     * @throws IOException if the key is no owner's, or the invitation is not complete
     */
    OwnInvitation sign(SigningKeyOptions keys, Instant now) throws IOException {
        if (roles.isEmpty() && out != null) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--out: want --role beside it, for there is no " + "certificate without a role");
        }
        ProjectHistory project = of.readHistory();
        // An error in its parts must appear before the passphrase is typed.
        contents.read(of, project, Optional.empty());
        SigningKey key = keys.open(of::key);
        CertificateIssuer owner = CertificateIssuer.of(project, Optional.empty(), key);
        Optional<ByteString> certificate = Optional.empty();
        if (!roles.isEmpty()) {
            byte[] der = owner.authority()
                    .certifyPerson(
                            owner.id(), roles, SubjectPublicKey.of(key.verificationKey()), now, Duration.ofDays(days));
            if (out != null) {
                AtomicFile.replace(out, Pem.write(Pem.CERTIFICATE, der));
            }
            certificate = Optional.of(ByteString.copyFrom(der));
        }
        byte[] envelope = InvitationOptions.sign(contents.read(of, project, certificate), key);
        return new OwnInvitation(ByteString.copyFrom(envelope), key.verificationKey());
    }
}
