package org.cloister.ctl.project;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.Callable;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.Pem;
import org.cloister.ctl.key.SigningKeyOptions;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.identity.CertificateRequest;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code agentctl project controller}: certifies the key of a controlling VM. */
@Command(
        name = "controller",
        description = "Certifies the signing key that a controlling VM made when it booted, for its own "
                + "name and its workers' names. Signs with an owner's key, or with --certificate an "
                + "opener's. Compare the key with the one in the VM's evidence.")
final class ProjectControllerCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init")
    private ProjectOption of;

    @Option(
            names = "--certificate",
            paramLabel = "FILE",
            description = "The opener's certificate, written by agentctl project member; default: the profile's; "
                    + "an owner without one omits it.")
    private @Nullable Path certificate;

    @Option(
            names = "--days",
            paramLabel = "NUMBER",
            defaultValue = "31",
            description = "Days until it expires, at most 31 and no later than the opener's certificate; "
                    + "default: ${DEFAULT-VALUE}.")
    private long days;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            required = true,
            description = "File for the certificate in PEM, followed by an opener's certificate.")
    @SuppressWarnings("NullAway.Init")
    private Path out;

    @Parameters(paramLabel = "REQUEST", description = "The VM's PKCS#10 request in PEM.")
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
        CertificateRequest request = request(project.id());
        CertificateIssuer issuer = CertificateIssuer.of(project, of.certificate(certificate), keys.open(of::key));
        Duration lifetime = issuer.limitLifetime(Duration.ofDays(days), now);
        byte[] der = issuer.authority()
                .certifyController(request.name().id(), SubjectPublicKey.of(request.key()), now, lifetime);
        ByteArrayOutputStream chain = new ByteArrayOutputStream();
        chain.writeBytes(Pem.write(Pem.CERTIFICATE, der));
        issuer.above().forEach(each -> chain.writeBytes(Pem.write(Pem.CERTIFICATE, each)));
        AtomicFile.replace(out, chain.toByteArray());
        output.print(new KeyValueOutput()
                .with("project", project.id())
                .with("controller", request.name())
                .with("key", request.key())
                .with("by", issuer.id())
                .with("until", now.plus(lifetime).truncatedTo(ChronoUnit.SECONDS))
                .with("certificate", out));
        return ExitCode.OK.code();
    }

    private CertificateRequest request(String project) throws IOException {
        CertificateRequest request = CertificateRequest.parse(
                Pem.readAll(file, Pem.CERTIFICATE_REQUEST, 1).get(0));
        if (!request.name().role().equals(CertificateRole.CONTROLLER.toString())
                || !request.name().project().equals(project)) {
            throw new MalformedException(
                    file + ": want a request of a controlling VM of project " + project + ", have " + request.name());
        }
        return request;
    }
}
