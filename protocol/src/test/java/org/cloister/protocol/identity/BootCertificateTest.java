package org.cloister.protocol.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.ByteArrayInputStream;
import java.security.SecureRandom;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import org.bouncycastle.asn1.x500.X500Name;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.junit.jupiter.api.Test;

class BootCertificateTest {
    private static final String PROJECT = "b".repeat(51) + "a";
    private static final CertificateName WORKER = new CertificateName("mfrggzdfmztwq2lk-3", "worker", PROJECT);
    private static final Instant NOW = Instant.parse("2026-11-21T10:00:00Z");

    private final SecureRandom random = new SecureRandom();
    private final SigningKey boot = KeySamples.signing(SignatureCurve.P384);
    private final SigningKey other = KeySamples.signing(SignatureCurve.P384);

    BootCertificateTest() throws Exception {}

    private static X509Certificate x509(byte[] der) throws Exception {
        return (X509Certificate)
                CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
    }

    private X509Certificate made(CertificateName name) throws Exception {
        return x509(BootCertificate.make(name, KeySamples.subject(boot), boot::sign, NOW, random));
    }

    private static void refused(List<X509Certificate> presented, CertificateName expected, IdentityClause clause) {
        IdentityRefusedException refusal =
                catchThrowableOfType(IdentityRefusedException.class, () -> BootCertificate.verify(presented, expected));
        assertThat(refusal).as("refusal by " + clause).isNotNull();
        assertThat(refusal.clause()).isEqualTo(clause);
    }

    @Test
    void a_vm_is_known_by_its_own_name_and_key() throws Exception {
        for (CertificateName name : List.of(WORKER, new CertificateName("c-0", "controller", PROJECT))) {
            BootIdentity found = BootCertificate.verify(List.of(made(name)), name);
            assertThat(found.name()).isEqualTo(name);
            assertThat(found.role().toString()).isEqualTo(name.role());
            assertThat(found.key()).isEqualTo(boot.verificationKey());
        }
    }

    @Test
    void its_times_say_nothing() throws Exception {
        X509Certificate old = x509(BootCertificate.make(
                WORKER, KeySamples.subject(boot), boot::sign, Instant.parse("2001-01-01T00:00:00Z"), random));
        assertThat(BootCertificate.verify(List.of(old), WORKER).name()).isEqualTo(WORKER);
    }

    @Test
    void another_name_is_refused() throws Exception {
        refused(
                List.of(made(WORKER)),
                new CertificateName("mfrggzdfmztwq2lk-4", "worker", PROJECT),
                IdentityClause.NAME);
        refused(List.of(made(WORKER)), new CertificateName(WORKER.id(), "controller", PROJECT), IdentityClause.NAME);
        refused(List.of(made(WORKER)), new CertificateName(WORKER.id(), "worker", "a".repeat(52)), IdentityClause.NAME);
    }

    /** As a program of nobody's would make it. */
    private X509Certificate forged(
            CertificateName name, SigningKey key, SigningKey signer, String issuer, Duration lifetime)
            throws Exception {
        return x509(CertificateBuilder.of(
                        new X500Name(issuer),
                        KeySamples.subject(signer).info(),
                        CertificateAuthority.leafSubject(name),
                        KeySamples.subject(key),
                        ValidityPeriod.of(NOW, lifetime, lifetime),
                        random)
                .leaf(name)
                .sign(signer::sign, signer.verificationKey().curve())
                .getEncoded());
    }

    @Test
    void a_certificate_that_is_not_the_vms_own_is_refused() throws Exception {
        String own = "O=" + PROJECT + ",CN=" + WORKER.id();
        refused(List.of(forged(WORKER, boot, other, own, ValidityPeriod.LEAF)), WORKER, IdentityClause.ISSUER);
        refused(List.of(forged(WORKER, boot, boot, "O=x", ValidityPeriod.LEAF)), WORKER, IdentityClause.ISSUER);
        refused(List.of(forged(WORKER, boot, boot, own, Duration.ofDays(2))), WORKER, IdentityClause.LIFETIME);
        SigningKey small = KeySamples.signing(SignatureCurve.P256);
        refused(List.of(forged(WORKER, small, small, own, ValidityPeriod.LEAF)), WORKER, IdentityClause.KEY);
        CertificateName member = new CertificateName("ann", "member", PROJECT);
        X509Certificate person = forged(member, boot, boot, "O=" + PROJECT + ",CN=ann", ValidityPeriod.LEAF);
        refused(List.of(person), member, IdentityClause.ROLE);
        refused(List.of(person), WORKER, IdentityClause.NAME);
    }

    @Test
    void one_certificate_is_shown_and_no_chain() throws Exception {
        refused(List.of(made(WORKER), made(WORKER)), WORKER, IdentityClause.CHAIN);
        refused(List.of(), WORKER, IdentityClause.CHAIN);
    }

    @Test
    void nobody_else_boots() {
        for (CertificateName name : List.of(
                new CertificateName("ann", "member", PROJECT),
                new CertificateName("ann", "opener", PROJECT),
                new CertificateName("h", "host", "site"))) {
            assertThat(catchThrowableOfType(
                            CertificationRefusedException.class,
                            () -> BootCertificate.make(name, KeySamples.subject(boot), boot::sign, NOW, random)))
                    .hasMessageContaining("boot certificate");
        }
        assertThat(catchThrowableOfType(CertificationRefusedException.class, () -> {
                    SigningKey small = KeySamples.signing(SignatureCurve.P256);
                    BootCertificate.make(WORKER, KeySamples.subject(small), small::sign, NOW, random);
                }))
                .hasMessageContaining("secp384r1");
    }

    /** Whoever believes chains does not believe this one. */
    @Test
    void it_is_no_chain_that_holds() throws Exception {
        SigningKey ben = KeySamples.signing(SignatureCurve.P384);
        byte[] payload = ProjectDocument.genesis(
                new ProjectOwners(1, List.of(KeySamples.owner("ann", other), KeySamples.owner("ben", ben))),
                NOW,
                random);
        ProjectHistory project =
                ProjectHistory.fromGenesis(KeySamples.sign(ProjectDocument.GENESIS, payload, List.of(other, ben)));
        CertificateChain chain = CertificateChain.of(List.of(made(new CertificateName("w-0", "worker", project.id()))));
        IdentityRefusedException refusal = catchThrowableOfType(
                IdentityRefusedException.class,
                () -> chain.verifyUnlisted(
                        EnumSet.allOf(CertificateRole.class),
                        TrustAnchors.none().withProject(project),
                        NOW));
        assertThat(refusal.clause()).isEqualTo(IdentityClause.ISSUER);
    }
}
