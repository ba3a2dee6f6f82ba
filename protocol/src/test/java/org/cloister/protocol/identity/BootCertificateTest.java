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
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;
import org.junit.jupiter.api.Test;

class BootCertificateTest {
    private static final String PROJECT = "b".repeat(51) + "a";
    private static final Name WORKER = new Name("mfrggzdfmztwq2lk-3", "worker", PROJECT);
    private static final Instant NOW = Instant.parse("2026-11-21T10:00:00Z");

    private final SecureRandom random = new SecureRandom();
    private final SigningKey boot = Keys.signing(Curve.P384);
    private final SigningKey other = Keys.signing(Curve.P384);

    BootCertificateTest() throws Exception {}

    private static X509Certificate x509(byte[] der) throws Exception {
        return (X509Certificate)
                CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
    }

    private X509Certificate made(Name name) throws Exception {
        return x509(BootCertificate.make(name, Keys.subject(boot), boot::sign, NOW, random));
    }

    private static void refused(List<X509Certificate> shown, Name wanted, Clause clause) {
        IdentityRefused refusal =
                catchThrowableOfType(IdentityRefused.class, () -> BootCertificate.verify(shown, wanted));
        assertThat(refusal).as("refusal by " + clause).isNotNull();
        assertThat(refusal.clause()).isEqualTo(clause);
    }

    @Test
    void a_vm_is_known_by_its_own_name_and_key() throws Exception {
        for (Name name : List.of(WORKER, new Name("c-0", "controller", PROJECT))) {
            BootIdentity found = BootCertificate.verify(List.of(made(name)), name);
            assertThat(found.name()).isEqualTo(name);
            assertThat(found.role().toString()).isEqualTo(name.role());
            assertThat(found.key()).isEqualTo(boot.verificationKey());
        }
    }

    @Test
    void its_times_say_nothing() throws Exception {
        X509Certificate old = x509(BootCertificate.make(
                WORKER, Keys.subject(boot), boot::sign, Instant.parse("2001-01-01T00:00:00Z"), random));
        assertThat(BootCertificate.verify(List.of(old), WORKER).name()).isEqualTo(WORKER);
    }

    @Test
    void another_name_is_refused() throws Exception {
        refused(List.of(made(WORKER)), new Name("mfrggzdfmztwq2lk-4", "worker", PROJECT), Clause.NAME);
        refused(List.of(made(WORKER)), new Name(WORKER.id(), "controller", PROJECT), Clause.NAME);
        refused(List.of(made(WORKER)), new Name(WORKER.id(), "worker", "a".repeat(52)), Clause.NAME);
    }

    /** As a program of nobody's would make it. */
    private X509Certificate forged(Name name, SigningKey key, SigningKey signer, String issuer, Duration life)
            throws Exception {
        return x509(CertificateDraft.of(
                        new X500Name(issuer),
                        Keys.subject(signer).info(),
                        Authority.leafSubject(name),
                        Keys.subject(key),
                        Validity.of(NOW, life, life),
                        random)
                .leaf(name)
                .sign(signer::sign, signer.verificationKey().curve())
                .getEncoded());
    }

    @Test
    void a_certificate_that_is_not_the_vms_own_is_refused() throws Exception {
        String own = "O=" + PROJECT + ",CN=" + WORKER.id();
        refused(List.of(forged(WORKER, boot, other, own, Validity.LEAF)), WORKER, Clause.ISSUER);
        refused(List.of(forged(WORKER, boot, boot, "O=x", Validity.LEAF)), WORKER, Clause.ISSUER);
        refused(List.of(forged(WORKER, boot, boot, own, Duration.ofDays(2))), WORKER, Clause.LIFETIME);
        SigningKey small = Keys.signing(Curve.P256);
        refused(List.of(forged(WORKER, small, small, own, Validity.LEAF)), WORKER, Clause.KEY);
        Name member = new Name("ann", "member", PROJECT);
        X509Certificate person = forged(member, boot, boot, "O=" + PROJECT + ",CN=ann", Validity.LEAF);
        refused(List.of(person), member, Clause.ROLE);
        refused(List.of(person), WORKER, Clause.NAME);
    }

    @Test
    void one_certificate_is_shown_and_no_chain() throws Exception {
        refused(List.of(made(WORKER), made(WORKER)), WORKER, Clause.CHAIN);
        refused(List.of(), WORKER, Clause.CHAIN);
    }

    @Test
    void nobody_else_boots() {
        for (Name name : List.of(
                new Name("ann", "member", PROJECT),
                new Name("ann", "opener", PROJECT),
                new Name("h", "host", "site"))) {
            assertThat(catchThrowableOfType(
                            RefusedException.class,
                            () -> BootCertificate.make(name, Keys.subject(boot), boot::sign, NOW, random)))
                    .hasMessageContaining("boot certificate");
        }
        assertThat(catchThrowableOfType(RefusedException.class, () -> {
                    SigningKey small = Keys.signing(Curve.P256);
                    BootCertificate.make(WORKER, Keys.subject(small), small::sign, NOW, random);
                }))
                .hasMessageContaining("secp384r1");
    }

    /** Whoever believes chains does not believe this one. */
    @Test
    void it_is_no_chain_that_holds() throws Exception {
        SigningKey ben = Keys.signing(Curve.P384);
        byte[] payload = ProjectDocument.genesis(
                new Owners(1, List.of(Keys.owner("ann", other), Keys.owner("ben", ben))), NOW, random);
        ProjectHistory project = ProjectHistory.begin(Keys.sign(ProjectDocument.GENESIS, payload, List.of(other, ben)));
        Chain chain = Chain.of(List.of(made(new Name("w-0", "worker", project.id()))));
        IdentityRefused refusal = catchThrowableOfType(
                IdentityRefused.class,
                () -> chain.verifyUnlisted(
                        EnumSet.allOf(Role.class), Anchors.none().withProject(project), NOW));
        assertThat(refusal.clause()).isEqualTo(Clause.ISSUER);
    }
}
