package org.cloister.ctl.receipt;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.cloister.base.encoding.MalformedException;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.Pem;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.project.ProjectOption;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.receipt.Receipt;
import org.cloister.protocol.receipt.ReceiptVerification;
import org.cloister.protocol.receipt.ReceiptVerifier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code agentctl receipt verify}: verifies a receipt. */
@Command(
        name = "verify",
        description = "Verifies offline a receipt's signatures and that all its parts are about one "
                + "ticket. Status 1: nothing is wrong, but something could not be verified with the "
                + "files that were given.")
final class ReceiptVerifyCommand implements Callable<Integer> {
    @Parameters(paramLabel = "FILE", description = "The receipt.")
    @SuppressWarnings("NullAway.Init")
    private Path file;

    @Option(
            names = "--project",
            paramLabel = "FILE",
            description = "The project's genesis, then its successor documents in order, each with this "
                    + "option; default: those in the receipt, which prove only the project's id.")
    private List<Path> documents = List.of();

    @Option(
            names = "--site",
            paramLabel = "FILE",
            description = "A certificate of the site's CA; may be given more than once. Without it, no "
                    + "statement of the relay and the hosts can be verified.")
    private List<Path> sites = List.of();

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        Optional<ProjectHistory> project =
                documents.isEmpty() ? Optional.empty() : Optional.of(ProjectOption.readHistory(documents));
        List<VerificationKey> keys = new ArrayList<>();
        for (Path site : sites) {
            keys.add(siteKey(site));
        }
        ReceiptVerification found;
        try {
            found = ReceiptVerifier.verify(Pem.readBounded(file, Receipt.MAX_ENVELOPE), project, keys);
        } catch (MalformedException e) {
            throw new MalformedException(file + ": " + e.getMessage(), e);
        }
        output.print(new ReceiptVerificationOutput(found));
        return switch (found.worst()) {
            case HOLDS, CLAIM -> ExitCode.OK.code();
            case UNKNOWN -> ExitCode.WARNING.code();
            case WRONG -> ExitCode.FAILURE.code();
        };
    }

    private static VerificationKey siteKey(Path file) throws IOException {
        byte[] der = Pem.read(file, Pem.CERTIFICATE);
        try {
            return VerificationKey.of(CertificateFactory.getInstance("X.509")
                    .generateCertificate(new ByteArrayInputStream(der))
                    .getPublicKey());
        } catch (CertificateException | MalformedException e) {
            throw new MalformedException(file + ": want the certificate of a site's CA, have: " + e.getMessage(), e);
        }
    }
}
