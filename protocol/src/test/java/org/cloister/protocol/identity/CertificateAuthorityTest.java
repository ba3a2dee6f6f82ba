package org.cloister.protocol.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.security.auth.x500.X500Principal;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Verifies our certificates with openssl; the lab's scenario of tunnels verifies them with charon. */
class CertificateAuthorityTest {
    private static final String SUBJECT_KEY_IDENTIFIER = "2.5.29.14";
    private static final Duration DAY = Duration.ofHours(24);

    private final Instant now = Instant.now();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    private final KeyPair rootKey = pair("secp384r1");
    private final KeyPair workersKey = pair("secp384r1");
    private CertificateAuthority root = authority(Duration.ofDays(300));
    private CertificateAuthority workers = delegate(Duration.ofDays(7));

    CertificateAuthorityTest() throws IOException {}

    @BeforeEach
    void write() throws IOException {
        pem("root", root.certificate());
        pem("workers", workers.certificate());
    }

    private CertificateAuthority authority(Duration lifetime) throws IOException {
        return CertificateAuthority.ofProject(
                "a", key(rootKey), CertificateSigner.of(rootKey.getPrivate()), now, lifetime, new SecureRandom());
    }

    private CertificateAuthority delegate(Duration lifetime) throws IOException {
        return root.delegate("worker", key(workersKey), CertificateSigner.of(workersKey.getPrivate()), now, lifetime);
    }

    private static SubjectPublicKey key(KeyPair pair) throws IOException {
        return SubjectPublicKey.parse(pair.getPublic().getEncoded());
    }

    private static KeyPair pair(String curve) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(curve));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    private void pem(String name, byte[] der) throws IOException {
        String type = name.equals("crl") ? "X509 CRL" : "CERTIFICATE";
        Files.writeString(
                folder.resolve(name + ".pem"),
                "-----BEGIN " + type + "-----\n" + Base64.getMimeEncoder().encodeToString(der) + "\n-----END " + type
                        + "-----\n");
    }

    private static X509Certificate read(byte[] der) throws Exception {
        return (X509Certificate)
                CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
    }

    private byte[] issue() throws IOException {
        return workers.issue(new CertificateName("w1", "worker", "a"), key(pair("secp384r1")), now, DAY);
    }

    /** What openssl says of a leaf below the delegated authority. */
    private String verify(byte[] leaf, String... more) throws Exception {
        pem("leaf", leaf);
        List<String> argv = new ArrayList<>(List.of("openssl", "verify", "-x509_strict", "-CAfile", "root.pem"));
        argv.addAll(List.of("-untrusted", "workers.pem"));
        argv.addAll(List.of(more));
        argv.add("leaf.pem");
        return openssl(argv);
    }

    private String openssl(List<String> argv) throws Exception {
        Process process = new ProcessBuilder(argv)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
        return output;
    }

    @Test
    void threads_that_issue_at_a_time_get_each_its_own_keys_identifier() throws Exception {
        SubjectPublicKey key = key(pair("secp384r1"));
        CertificateName name = new CertificateName("w1", "worker", "a");
        byte[] identifier = read(workers.issue(name, key, now, DAY)).getExtensionValue(SUBJECT_KEY_IDENTIFIER);
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            List<Future<byte[]>> issued = new ArrayList<>();
            for (int i = 0; i < 400; i++) {
                issued.add(threads.submit(() -> workers.issue(name, key, now, DAY)));
            }
            for (Future<byte[]> each : issued) {
                assertThat(read(each.get()).getExtensionValue(SUBJECT_KEY_IDENTIFIER))
                        .isEqualTo(identifier);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void a_leaf_is_good_for_its_name_below_the_delegated_authority() throws Exception {
        byte[] leaf = issue();
        assertThat(verify(leaf, "-verify_hostname", "w1.worker.a.cloister.internal", "-purpose", "sslserver"))
                .contains("leaf.pem: OK");
        assertThat(verify(leaf, "-verify_hostname", "w2.worker.a.cloister.internal"))
                .contains("hostname mismatch");
        X509Certificate read = read(leaf);
        assertThat(read.getBasicConstraints()).isNegative();
        assertThat(Duration.between(read.getNotBefore().toInstant(), now))
                .isBetween(Duration.ofSeconds(119), Duration.ofSeconds(121));
        assertThat(Duration.between(now, read.getNotAfter().toInstant())).isLessThanOrEqualTo(DAY);
        assertThat(read.getSigAlgName()).isEqualTo("SHA384withECDSA");
    }

    @Test
    void serial_numbers_are_128_random_bits() throws Exception {
        Set<BigInteger> seen = new HashSet<>();
        int longest = 0;
        for (int i = 0; i < 40; i++) {
            BigInteger serial = read(issue()).getSerialNumber();
            assertThat(serial.signum()).isPositive();
            longest = Math.max(longest, serial.bitLength());
            assertThat(seen.add(serial)).isTrue();
        }
        assertThat(longest).isBetween(123, 128);
    }

    /** Whoever has a delegated key can sign anything; the others must not take it. */
    @ParameterizedTest
    @CsvSource({
        "dns, w1.worker.a.cloister.internal, OK",
        "dns, c.controller.a.cloister.internal, permitted subtree violation",
        "dns, w1.worker.b.cloister.internal, permitted subtree violation",
        "dns, example.org, permitted subtree violation",
        "email, root@example.org, permitted subtree violation",
        "ip, 10.0.0.1, excluded subtree violation",
        "ip, ::1, excluded subtree violation",
        "uri, https://example.org/, permitted subtree violation",
        "dn, O=b, permitted subtree violation",
    })
    void a_stolen_delegated_key_certifies_nothing_beyond_its_workers(String kind, String value, String output)
            throws Exception {
        int type = switch (kind) {
            case "dns" -> GeneralName.dNSName;
            case "email" -> GeneralName.rfc822Name;
            case "ip" -> GeneralName.iPAddress;
            case "uri" -> GeneralName.uniformResourceIdentifier;
            default -> GeneralName.directoryName;
        };
        JcaX509v3CertificateBuilder builder = new JcaX509v3CertificateBuilder(
                read(workers.certificate()),
                BigInteger.TEN,
                Date.from(now.minusSeconds(60)),
                Date.from(now.plusSeconds(600)),
                new X500Principal("O=a"),
                pair("secp384r1").getPublic());
        GeneralName name = kind.equals("dn") ? new GeneralName(new X500Name(value)) : new GeneralName(type, value);
        builder.addExtension(Extension.subjectAlternativeName, false, new GeneralNames(name));
        byte[] forged = builder.build(new JcaContentSignerBuilder("SHA384withECDSA").build(workersKey.getPrivate()))
                .getEncoded();
        pem("leaf", forged);
        assertThat(openssl(
                        List.of("openssl", "verify", "-CAfile", "root.pem", "-untrusted", "workers.pem", "leaf.pem")))
                .containsIgnoringCase(output);
    }

    @Test
    void a_delegated_authority_has_none_below_it() throws Exception {
        assertThatThrownBy(() -> workers.delegate(
                        "worker", key(pair("secp384r1")), CertificateSigner.of(rootKey.getPrivate()), now, DAY))
                .isInstanceOf(CertificationRefusedException.class)
                .hasMessageContaining("path length");
        assertThat(read(workers.certificate()).getBasicConstraints()).isZero();
        // An opener's, and a controlling VM's below it.
        assertThat(read(root.certificate()).getBasicConstraints()).isEqualTo(2);
    }

    @Test
    void a_revoked_leaf_is_refused_and_others_are_not() throws Exception {
        byte[] good = issue();
        byte[] bad = issue();
        byte[] list = workers.revoke(
                List.of(new CertificateAuthority.Revocation(read(bad).getSerialNumber(), now)),
                BigInteger.ONE,
                now,
                DAY);
        pem("crl", list);
        assertThat(verify(good, "-crl_check", "-CRLfile", "crl.pem")).contains("leaf.pem: OK");
        assertThat(verify(bad, "-crl_check", "-CRLfile", "crl.pem")).contains("certificate revoked");
    }

    @Test
    void refuses_lives_longer_than_policy_or_than_the_authoritys_own() throws Exception {
        SubjectPublicKey leaf = key(pair("secp384r1"));
        CertificateName name = new CertificateName("w1", "worker", "a");
        for (Duration lifetime : List.of(DAY.plusSeconds(1), Duration.ZERO, Duration.ofSeconds(-5))) {
            assertThatThrownBy(() -> workers.issue(name, leaf, now, lifetime))
                    .isInstanceOf(CertificationRefusedException.class);
        }
        CertificateAuthority shortlived = delegate(Duration.ofHours(1));
        assertThatThrownBy(() -> shortlived.issue(name, leaf, now, Duration.ofHours(2)))
                .isInstanceOf(CertificationRefusedException.class)
                .hasMessageContaining("renew the authority");
        assertThatThrownBy(() -> delegate(Duration.ofDays(32))).isInstanceOf(CertificationRefusedException.class);
        assertThatThrownBy(() -> authority(Duration.ofDays(4000))).isInstanceOf(CertificationRefusedException.class);
    }

    @Test
    void refuses_names_that_are_not_below_it() throws Exception {
        SubjectPublicKey leaf = key(pair("secp384r1"));
        for (CertificateName name :
                List.of(new CertificateName("c", "controller", "a"), new CertificateName("w1", "worker", "b"))) {
            assertThatThrownBy(() -> workers.issue(name, leaf, now, DAY))
                    .isInstanceOf(CertificationRefusedException.class);
        }
        assertThat(root.issue(new CertificateName("c", "controller", "a"), leaf, now, DAY))
                .isNotEmpty();
        assertThatThrownBy(() -> new CertificateName("x.worker", "worker", "a"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void refuses_keys_that_are_not_points_of_p384() throws Exception {
        byte[] off = pair("secp384r1").getPublic().getEncoded();
        off[off.length - 1] ^= 1;
        byte[] longer = Arrays.copyOf(off, off.length + 1);
        KeyPairGenerator rsa = KeyPairGenerator.getInstance("RSA");
        for (byte[] spki : List.of(
                off,
                longer,
                new byte[0],
                new byte[5000],
                new byte[] {0x30, 0},
                new byte[] {2, 1, 1},
                pair("secp256r1").getPublic().getEncoded(),
                rsa.generateKeyPair().getPublic().getEncoded())) {
            assertThatThrownBy(() -> SubjectPublicKey.parse(spki)).isInstanceOf(CertificationRefusedException.class);
        }
    }
}
