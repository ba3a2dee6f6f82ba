package org.cloister.ctl.site;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.cloister.base.file.AtomicFile;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRequest;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.EnrolmentRequest;
import org.cloister.protocol.identity.EnrolmentToken;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code agentctl site request}: creates the certificate request of the machine on which it runs. */
@Command(
        name = "request",
        description = "On a host or relay: makes its key, unless it has one, and a request for its "
                + "certificate; with a token to enrol, without a token to renew.")
final class SiteRequestCommand implements Callable<Integer> {
    @Option(names = "--role", paramLabel = "ROLE", required = true, description = "Role of the machine: host or relay.")
    @SuppressWarnings("NullAway.Init")
    private CertificateRole role;

    @Option(names = "--token", paramLabel = "FILE", description = "The enrolment token; omit it to renew.")
    private @Nullable Path tokenFile;

    @Option(
            names = "--machine-key",
            paramLabel = "FILE",
            required = true,
            description = "File of the machine's private key; made if there is none.")
    @SuppressWarnings("NullAway.Init")
    private Path keyFile;

    @Option(names = "--out", paramLabel = "FILE", required = true, description = "File for the request.")
    @SuppressWarnings("NullAway.Init")
    private Path out;

    @Parameters(paramLabel = "ID", description = "The machine's id, the first label of its name.")
    @SuppressWarnings("NullAway.Init")
    private String id;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        CertificateName name = SiteNames.parse(id, role);
        SigningKey key = MachineKeyFile.openOrCreate(keyFile);
        CertificateRequest request = CertificateRequest.make(name, key);
        AtomicFile.replace(out, enrolment(request).json());
        output.print(new KeyValueOutput()
                .with("name", name)
                .with("key", key.verificationKey())
                .with("request", out));
        return ExitCode.OK.code();
    }

    private EnrolmentRequest enrolment(CertificateRequest request) throws IOException {
        if (tokenFile == null) {
            return EnrolmentRequest.renewal(request);
        }
        try (EnrolmentToken token = EnrolmentTokenFile.readToken(tokenFile)) {
            return EnrolmentRequest.first(request, token);
        }
    }
}
