package org.cloister.protocol.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.security.cert.CertPath;
import java.security.cert.CertPathValidator;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.PKIXParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Set;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.handover.BootFixture;
import org.junit.jupiter.api.Test;

/**
 * The anchors that a VM makes for its charon verify each chain of its controlling VM, by Java's own implementation of
 * RFC 5280.
 */
class IkeTrustAnchorsTest {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Instant NOW = BootFixture.NOW;
    private static final String PROJECT = "p".repeat(52);

    private final KeyPair vm = BootFixture.pair(SignatureCurve.P384);
    private final byte[] controllers = controllers(vm);
    private final List<X509Certificate> anchors = anchors(controllers);

    IkeTrustAnchorsTest() throws Exception {}

    private static SigningKey key() throws Exception {
        return SigningKey.of(BootFixture.pair(SignatureCurve.P384));
    }

    private static CertificateAuthority owner() throws Exception {
        SigningKey ann = key();
        return CertificateAuthority.ofProject(
                PROJECT, SubjectPublicKey.of(ann.verificationKey()), ann::sign, NOW, Duration.ofDays(300), RANDOM);
    }

    private static SubjectPublicKey subject(KeyPair pair) throws Exception {
        return SubjectPublicKey.of(SigningKey.of(pair).verificationKey());
    }

    private static byte[] controllers(KeyPair boot) throws Exception {
        SigningKey cat = key();
        byte[] cats = owner().certifyPerson(
                        "cat",
                        Set.of(CertificateRole.OPENER),
                        SubjectPublicKey.of(cat.verificationKey()),
                        NOW,
                        Duration.ofDays(31));
        return CertificateAuthority.load(cats, cat::sign, RANDOM)
                .certifyController("main", subject(boot), NOW, Duration.ofDays(7));
    }

    private static List<X509Certificate> anchors(byte[]... verified) throws Exception {
        return read(IkeTrustAnchors.create(PROJECT, NOW, RANDOM).certificatesFor(List.of(verified)));
    }

    private static List<X509Certificate> read(List<byte[]> ders) throws CertificateException {
        List<X509Certificate> read = new ArrayList<>();
        for (byte[] der : ders) {
            read.add((X509Certificate)
                    CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der)));
        }
        return read;
    }

    private static byte[] worker(byte[] authority, KeyPair boot) throws Exception {
        return CertificateAuthority.load(authority, CertificateSigner.of(boot.getPrivate()), RANDOM)
                .issue(
                        new CertificateName("w1", "worker", PROJECT),
                        SubjectPublicKey.of(key().verificationKey()),
                        NOW,
                        Duration.ofHours(12));
    }

    private void validate(byte[] leaf) throws Exception {
        validate(anchors.get(0), anchors.get(1), leaf);
    }

    private static void validate(X509Certificate anchor, X509Certificate authority, byte[] leaf) throws Exception {
        List<X509Certificate> path = new ArrayList<>(read(List.of(leaf)));
        path.add(authority);
        CertPath whole = CertificateFactory.getInstance("X.509").generateCertPath(path);
        PKIXParameters parameters = new PKIXParameters(Set.of(new TrustAnchor(anchor, null)));
        parameters.setRevocationEnabled(false);
        parameters.setDate(Date.from(NOW));
        CertPathValidator.getInstance("PKIX").validate(whole, parameters);
    }

    @Test
    void the_first_certifies_itself_and_a_workers_chain_ends_there() throws Exception {
        assertThat(anchors).hasSize(2);
        X509Certificate own = anchors.get(0);
        assertThat(own.getIssuerX500Principal()).isEqualTo(own.getSubjectX500Principal());
        own.verify(own.getPublicKey());
        validate(worker(controllers, vm));
    }

    @Test
    void what_is_made_stands_for_the_authority_and_lives_no_longer() throws Exception {
        X509Certificate made = anchors.get(1);
        X509Certificate verified = read(List.of(controllers)).get(0);
        assertThat(made.getSubjectX500Principal()).isEqualTo(verified.getSubjectX500Principal());
        assertThat(made.getPublicKey()).isEqualTo(verified.getPublicKey());
        assertThat(made.getNotAfter()).isEqualTo(verified.getNotAfter());
        assertThat(made.getNotBefore()).isEqualTo(verified.getNotBefore());
        assertThat(made.getBasicConstraints()).isZero();
    }

    @Test
    void another_controlling_vms_worker_is_nobody_though_the_name_is_the_same() throws Exception {
        KeyPair other = BootFixture.pair(SignatureCurve.P384);
        byte[] leaf = worker(controllers(other), other);
        assertThatThrownBy(() -> validate(leaf)).isInstanceOf(CertPathValidatorException.class);
    }

    @Test
    void an_authority_that_may_have_others_below_it_or_is_of_another_project_is_refused() throws Exception {
        byte[] owners = owner().certificate();
        assertThatThrownBy(() -> IkeTrustAnchors.create(PROJECT, NOW, RANDOM).certificatesFor(List.of(owners)))
                .isInstanceOf(CertificationRefusedException.class)
                .hasMessageContaining("path length 2");
        assertThatThrownBy(() ->
                        IkeTrustAnchors.create("q".repeat(52), NOW, RANDOM).certificatesFor(List.of(controllers)))
                .isInstanceOf(CertificationRefusedException.class);
    }

    @Test
    void a_controlling_vm_that_was_opened_anew_is_believed_beside_the_one_before_under_the_same_anchor()
            throws Exception {
        KeyPair later = BootFixture.pair(SignatureCurve.P384);
        byte[] laters = controllers(later);
        IkeTrustAnchors whom = IkeTrustAnchors.create(PROJECT, NOW, RANDOM);
        List<X509Certificate> before = read(whom.certificatesFor(List.of(controllers)));
        List<X509Certificate> both = read(whom.certificatesFor(List.of(laters, controllers)));
        assertThat(both.get(0)).isEqualTo(before.get(0));
        assertThat(both.get(2)).as("made once, so that charon has one").isEqualTo(before.get(1));
        validate(both.get(0), both.get(1), worker(laters, later));
        validate(both.get(0), both.get(2), worker(controllers, vm));
    }

    @Test
    void nobody_makes_the_same_twice() throws Exception {
        assertThat(anchors(controllers).get(0).getPublicKey())
                .isNotEqualTo(anchors.get(0).getPublicKey());
    }
}
