package org.cloister.ctl.site;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.concurrent.Callable;
import org.cloister.base.file.AtomicFile;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.SigningKeyOptions;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.EnrolmentToken;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code agentctl site enrol}: creates an enrolment token for one name. */
@Command(
        name = "enrol",
        description =
                "Makes a token by which one host or relay is enrolled once, in a file that its owner alone reads. Carry it there, then delete it here.")
final class SiteEnrolCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init")
    private SiteOption of;

    @Option(names = "--role", paramLabel = "ROLE", required = true, description = "host or relay.")
    @SuppressWarnings("NullAway.Init")
    private CertificateRole role;

    @Option(
            names = "--token",
            paramLabel = "FILE",
            required = true,
            description = "Where the token is written; there must be no such file.")
    @SuppressWarnings("NullAway.Init")
    private Path tokenFile;

    @Option(
            names = "--minutes",
            paramLabel = "NUMBER",
            defaultValue = "60",
            description = "How long the token may be used: 15 to 10080; default: ${DEFAULT-VALUE}.")
    private long minutes;

    @Parameters(paramLabel = "ID", description = "The machine's label in its name.")
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
        Instant now = Instant.now();
        CertificateName name = SiteNames.parse(id, role);
        Duration lifetime = Duration.ofMinutes(minutes);
        try (SiteCaFolder site = of.open(keys)) {
            EnrolmentToken.NewToken made = EnrolmentToken.make(new SecureRandom());
            try (EnrolmentToken token = made.token()) {
                write(token);
                try {
                    site.registrationAuthority().open(name, made.publicHalf(), now, lifetime);
                } catch (IOException e) {
                    // The token is not registered, and its file would block the next try.
                    Files.delete(tokenFile);
                    throw e;
                }
            }
        }
        output.print(new KeyValueOutput()
                .with("name", name)
                .with("token", tokenFile)
                .with("until", now.plus(lifetime).truncatedTo(ChronoUnit.SECONDS)));
        return ExitCode.OK.code();
    }

    private void write(EnrolmentToken token) throws IOException {
        byte[] text = token.text();
        try {
            AtomicFile.create(tokenFile, text);
        } finally {
            Arrays.fill(text, (byte) 0);
        }
    }
}
