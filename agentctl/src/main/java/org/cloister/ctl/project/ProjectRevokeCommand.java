package org.cloister.ctl.project;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.cloister.base.file.AtomicFile;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.Pem;
import org.cloister.ctl.key.SigningKeyOptions;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.RevocationList;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code agentctl project revoke}: updates and signs an owner's revocation list. */
@Command(
        name = "revoke",
        description = "Adds certificates that this owner issued to the owner's revocation list and "
                + "signs the next list, valid for 7 days; without certificates it only renews the "
                + "list. Deliver it to the relay and to the controlling VM.")
final class ProjectRevokeCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init")
    private ProjectOption of;

    @Option(
            names = "--list",
            paramLabel = "FILE",
            required = true,
            description = "The owner's revocation list; replaced, or made if there is none.")
    @SuppressWarnings("NullAway.Init")
    private Path list;

    @Parameters(
            paramLabel = "CERTIFICATE",
            arity = "0..*",
            description = "Certificates in PEM, as agentctl project member writes them.")
    private List<Path> certificates = List.of();

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private SigningKeyOptions keys;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        Instant now = Instant.now();
        SigningKey key = keys.open(of::key);
        CertificateAuthority owner = ProjectDocumentFiles.authority(of.readHistory(), key);
        List<VerificationKey> own = List.of(key.verificationKey());
        BigInteger number = BigInteger.ONE;
        Set<BigInteger> serials = new TreeSet<>();
        if (AtomicFile.exists(list)) {
            RevocationList before = RevocationList.read(Pem.readBounded(list, RevocationList.MAX_BYTES), own);
            number = before.number().add(BigInteger.ONE);
            serials.addAll(before.serials());
        }
        for (Path file : certificates) {
            serials.add(ProjectDocumentFiles.readSerial(file, key.verificationKey()));
        }
        List<CertificateAuthority.Revocation> revoked = serials.stream()
                .map(serial -> new CertificateAuthority.Revocation(serial, now))
                .toList();
        byte[] der = owner.revoke(revoked, number, now, CertificateAuthority.PROJECT_LIST);
        AtomicFile.replace(list, der);
        output.print(new KeyValueOutput()
                .with("list", list)
                .with("number", number)
                .with("revoked", serials.size())
                .with("until", RevocationList.read(der, own).nextUpdate()));
        return ExitCode.OK.code();
    }
}
