package org.cloister.ctl.site;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import org.cloister.base.file.AtomicFile;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.Pem;
import org.cloister.ctl.key.SigningKeyOptions;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.identity.EnrolmentRequest;
import org.cloister.protocol.identity.IdentityClause;
import org.cloister.protocol.identity.IdentityRefusedException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code agentctl site issue}: answers certificate requests of hosts and relays. */
@Command(
        name = "issue",
        description = "Answers requests of hosts and relays with certificates of 24 hours, each beside "
                + "its request in FILE.pem. If two keys have used one token, that is an alarm: the "
                + "name is revoked and the next revocation list is signed.")
final class SiteIssueCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init")
    private SiteOption of;

    @Parameters(paramLabel = "FILE", arity = "1..*", description = "Requests, as agentctl site request writes them.")
    @SuppressWarnings("NullAway.Init")
    private List<Path> requests;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private SigningKeyOptions keys;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        Instant now = Instant.now();
        KeyValueOutput facts = new KeyValueOutput();
        try (SiteCaFolder site = of.open(keys)) {
            if (site.hasUnlistedRevocations(now)) {
                // An earlier alarm's list could not be signed.
                site.signRevocationList(now);
            }
            for (Path file : requests) {
                EnrolmentRequest request = EnrolmentRequest.parse(Pem.readBounded(file, EnrolmentRequest.MAX_BYTES));
                Path answer = file.resolveSibling(file.getFileName() + ".pem");
                AtomicFile.replace(answer, Pem.write(Pem.CERTIFICATE, answer(site, request, now)));
                facts.with(request.request().name().toString(), answer);
            }
        }
        output.print(facts);
        return ExitCode.OK.code();
    }

    private static byte[] answer(SiteCaFolder site, EnrolmentRequest request, Instant now) throws IOException {
        try {
            return site.registrationAuthority().answer(request, now);
        } catch (IdentityRefusedException e) {
            if (e.clause() == IdentityClause.COPIED) {
                list(site, e, now);
            }
            throw e;
        }
    }

    private static void list(SiteCaFolder site, IdentityRefusedException alarm, Instant now) throws IOException {
        try {
            site.signRevocationList(now);
        } catch (IOException | RuntimeException e) {
            throw new IOException(
                    alarm.getMessage() + "; the revocation list is not signed, try agentctl site revoke: "
                            + e.getMessage(),
                    e);
        }
    }
}
