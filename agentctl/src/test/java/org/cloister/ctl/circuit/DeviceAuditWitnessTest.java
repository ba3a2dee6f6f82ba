package org.cloister.ctl.circuit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.cloister.audit.AuditWitness;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.audit.AuditHead;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeviceAuditWitnessTest {
    private static final CertificateName RELAY = new CertificateName("r1", "relay", CertificateName.SITE);
    private static final String LOG = "abcdefghijklmnopqrstuvwxyz";

    @TempDir
    private Path home = Path.of("");

    private final SigningKey relayKey = SigningKey.of(pair());
    private final StringWriter errors = new StringWriter();

    DeviceAuditWitnessTest() throws Exception {}

    private static KeyPair pair() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec(SignatureCurve.P256.standardName()));
        return generator.generateKeyPair();
    }

    /** Its certificate's name is of no interest here. */
    private static TlsCredential device(KeyPair pair) throws Exception {
        SigningKey site = SigningKey.of(pair());
        CertificateAuthority authority = CertificateAuthority.ofSite(
                SubjectPublicKey.of(site.verificationKey()),
                site::sign,
                Instant.now(),
                Duration.ofDays(2),
                new SecureRandom());
        SubjectPublicKey subject = SubjectPublicKey.of(VerificationKey.of(pair.getPublic()));
        byte[] der = authority.issue(RELAY, subject, Instant.now(), Duration.ofHours(1));
        return TlsCredential.of(pair.getPrivate(), List.of(der));
    }

    private byte[] head(long count, String log) throws Exception {
        Digest hash = Digest.sha256(log.getBytes(StandardCharsets.US_ASCII));
        return new AuditHead(RELAY.toString(), LOG, count, hash, Instant.now())
                .sign(relayKey)
                .envelope()
                .bytes();
    }

    @Test
    void newer_heads_are_kept_and_a_shorter_log_is_an_alarm() throws Exception {
        CertifiedIdentity relay = new CertifiedIdentity(
                RELAY,
                CertificateRole.RELAY,
                relayKey.verificationKey(),
                Instant.MAX,
                relayKey.verificationKey(),
                BigInteger.ONE);
        TlsCredential own = device(pair());
        DeviceAuditWitness witness = DeviceAuditWitness.of(home, "p", new PrintWriter(errors));
        witness.countersign(new byte[0], relay, own);
        witness.countersign(head(7, "a"), relay, own);
        witness.countersign(head(9, "b"), relay, own);
        assertThat(errors.toString()).isEmpty();
        try (Stream<Path> files = Files.list(home.resolve("cloister/p/audit-heads"))) {
            Path file = files.toList().get(0);
            assertThat(String.valueOf(file.getFileName())).startsWith("r1-");
            assertThat(AuditWitness.read(file)).hasSize(2);
        }
        witness.countersign(head(8, "c"), relay, own);
        assertThat(errors.toString()).startsWith("agentctl: alarm: ").contains("9");
        witness.countersign(new byte[] {'{'}, relay, own);
        assertThat(errors.toString().lines()).hasSize(2);
    }
}
