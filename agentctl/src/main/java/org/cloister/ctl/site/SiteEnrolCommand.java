package org.cloister.ctl.site;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import org.cloister.base.address.HostPort;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.SigningKeyOptions;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.relay.RelayAddressConverter;
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
        description = "Makes a token that enrols one host or relay once, in a file that only its owner "
                + "can read. Copy it to that machine, then delete it here.")
final class SiteEnrolCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init")
    private SiteOption of;

    @Option(names = "--role", paramLabel = "ROLE", required = true, description = "Role of the machine: host or relay.")
    @SuppressWarnings("NullAway.Init")
    private CertificateRole role;

    @Option(names = "--token", paramLabel = "FILE", required = true, description = "New file for the token.")
    @SuppressWarnings("NullAway.Init")
    private Path tokenFile;

    @Option(
            names = "--minutes",
            paramLabel = "NUMBER",
            defaultValue = "60",
            description = "Minutes until the token expires, 15 to 10080; default: ${DEFAULT-VALUE}.")
    private long minutes;

    @Option(
            names = "--relay",
            paramLabel = "HOST:PORT",
            converter = RelayAddressConverter.class,
            description = "Address of a relay, for the token's file; once for each relay.")
    private List<InetSocketAddress> relays = List.of();

    @Parameters(paramLabel = "ID", description = "The machine's id, the first label of its name.")
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
        List<String> addresses = relays.stream().map(HostPort::text).toList();
        if (addresses.size() > EnrolmentTokenFile.MAX_RELAYS) {
            throw new MalformedException(
                    "--relay: want at most " + EnrolmentTokenFile.MAX_RELAYS + ", have " + addresses.size());
        }
        try (SiteCaFolder site = of.open(keys)) {
            if (AtomicFile.exists(tokenFile)) {
                // Before a new token replaces the one that may be in it.
                throw new FileAlreadyExistsException(tokenFile.toString());
            }
            EnrolmentToken.NewToken made = EnrolmentToken.make(new SecureRandom());
            try (EnrolmentToken token = made.token()) {
                // Registered first: a certificate that the site does not know could not be revoked.
                byte[] tokenCertificate = site.registrationAuthority().open(name, made.publicHalf(), now, lifetime);
                write(
                        new EnrolmentTokenFile.Contents(
                                name,
                                addresses,
                                ByteString.copyFrom(site.authority().certificate()),
                                ByteString.copyFrom(tokenCertificate),
                                list(site, now)),
                        token);
            }
        }
        output.print(new KeyValueOutput()
                .with("name", name)
                .with("token", tokenFile)
                .with("until", now.plus(lifetime).truncatedTo(ChronoUnit.SECONDS)));
        return ExitCode.OK.code();
    }

    /**
     * Signs a new list if an earlier token was replaced, or for a relay.
     *
     * @return the list for a relay, which accepts no link without one; empty for a host
     */
    private ByteString list(SiteCaFolder site, Instant now) throws IOException {
        if (role != CertificateRole.RELAY && !site.hasUnlistedRevocations(now)) {
            return ByteString.EMPTY;
        }
        byte[] list = site.signRevocationList(now).bytes();
        return role == CertificateRole.RELAY ? ByteString.copyFrom(list) : ByteString.EMPTY;
    }

    private void write(EnrolmentTokenFile.Contents contents, EnrolmentToken token) throws IOException {
        byte[] text = new EnrolmentTokenFile(contents, token).text();
        try {
            AtomicFile.create(tokenFile, text);
        } finally {
            Arrays.fill(text, (byte) 0);
        }
    }
}
