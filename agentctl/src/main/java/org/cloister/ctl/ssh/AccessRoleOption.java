package org.cloister.ctl.ssh;

import org.cloister.protocol.identity.CertificateRole;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** Option for the role in which a person uses the controlling VM. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields before use
final class AccessRoleOption {
    @Option(
            names = "--role",
            paramLabel = "ROLE",
            defaultValue = "member",
            description = "Your role: member (a shell, files in) or exporter (files out, each recorded); "
                    + "default: ${DEFAULT-VALUE}.")
    private CertificateRole role;

    @Spec(Target.MIXEE)
    private CommandSpec spec;

    CertificateRole requireAccessRole() {
        if (role != CertificateRole.MEMBER && role != CertificateRole.EXPORTER) {
            throw new ParameterException(spec.commandLine(), "--role: want member or exporter, have " + role);
        }
        return role;
    }
}
