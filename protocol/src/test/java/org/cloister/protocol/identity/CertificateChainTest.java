package org.cloister.protocol.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.math.BigInteger;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Date;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.junit.jupiter.api.Test;

class CertificateChainTest {
    private static final Duration DAY = Duration.ofHours(24);
    private static final Set<CertificateRole> ALL = EnumSet.allOf(CertificateRole.class);

    private final Instant now = Instant.parse("2026-11-21T10:00:00Z");
    private final SecureRandom random = new SecureRandom();
    private final SigningKey ann = KeySamples.signing(SignatureCurve.P384);
    private final SigningKey ben = KeySamples.signing(SignatureCurve.P384);
    private final SigningKey cas = KeySamples.signing(SignatureCurve.P256);
    private final SigningKey person = KeySamples.signing(SignatureCurve.P384);
    private final SigningKey boot = KeySamples.signing(SignatureCurve.P384);
    private final SigningKey leaf = KeySamples.signing(SignatureCurve.P384);
    private final SigningKey small = KeySamples.signing(SignatureCurve.P256);
    private final ProjectHistory project = project(ann, ben);
    private final CertificateAuthority owner = authority(project, ann);
    private final CertificateAuthority site =
            CertificateAuthority.ofSite(KeySamples.subject(cas), cas::sign, now, Duration.ofDays(365), random);
    private final TrustAnchors anchors =
            TrustAnchors.none().withProject(project).withSite(List.of(cas.verificationKey()));
    private final RevocationLists lists =
            RevocationLists.none().with(list(owner, 1), now).with(list(site, 1), now);

    CertificateChainTest() throws Exception {}

    private ProjectHistory project(SigningKey one, SigningKey other) throws Exception {
        ProjectOwners owners =
                new ProjectOwners(2, List.of(KeySamples.owner("ann", one), KeySamples.owner("ben", other)));
        byte[] payload = ProjectDocument.genesis(owners, now, random);
        return ProjectHistory.fromGenesis(KeySamples.sign(ProjectDocument.GENESIS, payload, List.of(one, other)));
    }

    private CertificateAuthority authority(ProjectHistory of, SigningKey key) throws Exception {
        return CertificateAuthority.ofProject(
                of.id(), KeySamples.subject(key), key::sign, now, Duration.ofDays(300), random);
    }

    private RevocationList list(CertificateAuthority by, int number, byte[]... revoked) throws Exception {
        List<CertificateAuthority.Revocation> entries = new ArrayList<>();
        for (byte[] each : revoked) {
            entries.add(new CertificateAuthority.Revocation(new X509CertificateHolder(each).getSerialNumber(), now));
        }
        byte[] der = by.revoke(entries, BigInteger.valueOf(number), now, DAY);
        return RevocationList.read(der, List.of(ann.verificationKey(), ben.verificationKey(), cas.verificationKey()));
    }

    private CertificateName name(String id, CertificateRole role) {
        return new CertificateName(id, role.toString(), role.isSite() ? CertificateName.SITE : project.id());
    }

    private CertifiedIdentity verify(byte[]... chain) throws Exception {
        return CertificateChain.parse(List.of(chain)).verify(ALL, anchors, lists, now);
    }

    private IdentityClause refused(byte[]... chain) {
        return refused(ALL, anchors, lists, now, chain);
    }

    private static IdentityClause refused(
            Collection<CertificateRole> roles,
            TrustAnchors anchors,
            RevocationLists lists,
            Instant at,
            byte[]... chain) {
        Throwable thrown =
                catchThrowable(() -> CertificateChain.parse(List.of(chain)).verify(roles, anchors, lists, at));
        assertThat(thrown).isInstanceOf(IdentityRefusedException.class);
        return ((IdentityRefusedException) thrown).clause();
    }

    private byte[] host(String id) throws Exception {
        return site.issue(name(id, CertificateRole.HOST), KeySamples.subject(small), now, DAY);
    }

    private byte[] person(Set<CertificateRole> roles) throws Exception {
        return owner.certifyPerson("cat", roles, KeySamples.subject(person), now, Duration.ofDays(7));
    }

    private CertificateAuthority load(byte[] certificate, SigningKey key) throws Exception {
        return CertificateAuthority.load(certificate, key::sign, random);
    }

    @Test
    void hosts_relays_and_owners_come_right_below_their_anchors() throws Exception {
        CertifiedIdentity host = verify(host("h1"));
        assertThat(host.name()).hasToString("h1.host.site.cloister.internal");
        assertThat(host.key()).isEqualTo(small.verificationKey());
        assertThat(verify(site.issue(name("r", CertificateRole.RELAY), KeySamples.subject(small), now, DAY))
                        .role())
                .isEqualTo(CertificateRole.RELAY);
        assertThat(verify(owner.issue(name("ann", CertificateRole.OWNER), KeySamples.subject(leaf), now, DAY))
                        .role())
                .isEqualTo(CertificateRole.OWNER);
    }

    @Test
    void a_person_certifies_its_own_roles_and_device_and_nothing_else() throws Exception {
        byte[] above = person(Set.of(CertificateRole.MEMBER, CertificateRole.EXPORTER));
        CertificateAuthority own = load(above, person);
        for (CertificateRole role : List.of(CertificateRole.MEMBER, CertificateRole.EXPORTER, CertificateRole.DEVICE)) {
            SigningKey key = role == CertificateRole.DEVICE ? small : leaf;
            byte[] mine = own.issue(name("cat", role), KeySamples.subject(key), now, DAY);
            assertThat(verify(mine, above).name()).isEqualTo(name("cat", role));
        }
        for (CertificateName other : List.of(
                name("dan", CertificateRole.MEMBER),
                name("cat", CertificateRole.OPENER),
                name("cat", CertificateRole.OWNER),
                name("w", CertificateRole.WORKER))) {
            assertThat(catchThrowable(() -> own.issue(other, KeySamples.subject(leaf), now, DAY)))
                    .isInstanceOf(CertificationRefusedException.class);
            assertThat(refused(forged(above, person, other.toString(), SignatureCurve.P384), above))
                    .isEqualTo(IdentityClause.CONSTRAINT);
        }
    }

    @Test
    void an_opener_certifies_a_controlling_VM_and_that_its_workers() throws Exception {
        byte[] opener = person(Set.of(CertificateRole.OPENER));
        byte[] vm = load(opener, person).certifyController("c1", KeySamples.subject(boot), now, Duration.ofDays(3));
        CertificateAuthority controller = load(vm, boot);
        byte[] worker = controller.issue(name("w1", CertificateRole.WORKER), KeySamples.subject(leaf), now, DAY);
        assertThat(verify(worker, vm, opener).role()).isEqualTo(CertificateRole.WORKER);
        assertThat(verify(
                                controller.issue(
                                        name("c1", CertificateRole.CONTROLLER), KeySamples.subject(leaf), now, DAY),
                                vm,
                                opener)
                        .role())
                .isEqualTo(CertificateRole.CONTROLLER);
        for (CertificateName other : List.of(
                name("c2", CertificateRole.CONTROLLER),
                name("cat", CertificateRole.MEMBER),
                name("ann", CertificateRole.OWNER))) {
            assertThat(refused(forged(vm, boot, other.toString(), SignatureCurve.P384), vm, opener))
                    .isEqualTo(IdentityClause.CONSTRAINT);
        }
        assertThat(catchThrowable(
                        () -> controller.certifyController("c1", KeySamples.subject(leaf), now, Duration.ofDays(1))))
                .isInstanceOf(CertificationRefusedException.class);
        byte[] member = person(Set.of(CertificateRole.MEMBER));
        assertThat(catchThrowable(
                        () -> load(member, person).certifyController("c1", KeySamples.subject(boot), now, DAY)))
                .isInstanceOf(CertificationRefusedException.class);
    }

    @Test
    void each_clause_refuses() throws Exception {
        byte[] good = host("h1");
        assertThat(refused()).isEqualTo(IdentityClause.CHAIN);
        assertThat(refused(good, good, good, good)).isEqualTo(IdentityClause.CHAIN);
        assertThat(refused(new byte[CertificateChain.MAX_CERTIFICATE + 1])).isEqualTo(IdentityClause.CHAIN);
        assertThat(refused(Arrays.copyOf(good, good.length + 1))).isEqualTo(IdentityClause.CERTIFICATE);
        assertThat(refused(Arrays.copyOf(good, good.length - 1))).isEqualTo(IdentityClause.CERTIFICATE);
        assertThat(refused(new byte[0])).isEqualTo(IdentityClause.CERTIFICATE);
        assertThat(refused(site.certificate())).isEqualTo(IdentityClause.NAME);
        assertThat(refused(forgedNames(GeneralName.iPAddress, "10.0.0.1"))).isEqualTo(IdentityClause.NAME);
        assertThat(refused(forged(site.certificate(), cas, "h1.king.site.cloister.internal", SignatureCurve.P256)))
                .isEqualTo(IdentityClause.ROLE);
        assertThat(refused(Set.of(CertificateRole.RELAY), anchors, lists, now, good))
                .isEqualTo(IdentityClause.ROLE);
        assertThat(refused(forged(site.certificate(), cas, "h1.worker.site.cloister.internal", SignatureCurve.P384)))
                .isEqualTo(IdentityClause.SCOPE);
        assertThat(refused(ALL, TrustAnchors.none(), lists, now, good)).isEqualTo(IdentityClause.SCOPE);
        assertThat(refused(forged(site.certificate(), cas, "h1.host.site.cloister.internal", SignatureCurve.P384)))
                .isEqualTo(IdentityClause.KEY);
        assertThat(refused(ALL, anchors, lists, now.plus(DAY).plusSeconds(1), good))
                .isEqualTo(IdentityClause.TIME);
        assertThat(refused(ALL, anchors, lists, now.minusSeconds(121), good)).isEqualTo(IdentityClause.TIME);
        assertThat(refused(ALL, anchors, RevocationLists.none(), now, good)).isEqualTo(IdentityClause.LIST);
        byte[] flipped = good.clone();
        flipped[flipped.length - 1] ^= 1;
        assertThat(refused(flipped)).isIn(IdentityClause.ISSUER, IdentityClause.CERTIFICATE);
    }

    @Test
    void an_authority_in_the_leafs_place_or_a_leaf_above_is_refused() throws Exception {
        byte[] above = person(Set.of(CertificateRole.MEMBER));
        byte[] mine =
                load(above, person).issue(name("cat", CertificateRole.MEMBER), KeySamples.subject(leaf), now, DAY);
        byte[] below = forged(mine, leaf, name("cat", CertificateRole.MEMBER).toString(), SignatureCurve.P384);
        assertThat(refused(below, mine, above)).isEqualTo(IdentityClause.CERTIFICATE);
        assertThat(refused(above)).isEqualTo(IdentityClause.NAME);
        assertThat(refused(mine)).isEqualTo(IdentityClause.ISSUER);
    }

    @Test
    void a_member_of_one_project_is_nobody_in_another() throws Exception {
        ProjectHistory other = project(ben, ann);
        byte[] mine = owner.issue(name("ann", CertificateRole.OWNER), KeySamples.subject(leaf), now, DAY);
        TrustAnchors only = TrustAnchors.none().withProject(other);
        assertThat(refused(ALL, only, lists, now, mine)).isEqualTo(IdentityClause.SCOPE);
        CertificateAuthority theirs = authority(other, KeySamples.signing(SignatureCurve.P384));
        CertificateName stolen = new CertificateName("ann", "owner", other.id());
        byte[] forged = theirs.issue(stolen, KeySamples.subject(leaf), now, DAY);
        assertThat(refused(ALL, only, lists, now, forged)).isEqualTo(IdentityClause.ISSUER);
    }

    @Test
    void a_site_authority_says_nothing_of_projects_and_an_owner_nothing_of_hosts() throws Exception {
        byte[] owned = forged(
                site.certificate(), cas, name("ann", CertificateRole.OWNER).toString(), SignatureCurve.P384);
        assertThat(refused(owned)).isEqualTo(IdentityClause.ISSUER);
        byte[] hosted = forged(owner.certificate(), ann, "h1.host.site.cloister.internal", SignatureCurve.P256);
        assertThat(refused(hosted)).isEqualTo(IdentityClause.ISSUER);
    }

    @Test
    void what_a_dropped_owner_certified_ends() throws Exception {
        byte[] mine = owner.issue(name("ann", CertificateRole.OWNER), KeySamples.subject(leaf), now, DAY);
        CertifiedIdentity identity = verify(mine);
        SigningKey eve = KeySamples.signing(SignatureCurve.P384);
        ProjectOwners without =
                new ProjectOwners(2, List.of(KeySamples.owner("ben", ben), KeySamples.owner("eve", eve)));
        ProjectHistory later = project.with(
                KeySamples.sign(ProjectDocument.SUCCESSOR, project.successor(without, now), List.of(ann, ben, eve)));
        TrustAnchors after = anchors.withProject(later);
        assertThat(refused(ALL, after, lists, now, mine)).isEqualTo(IdentityClause.ISSUER);
        RevocableSessions<String> open = new RevocableSessions<>();
        open.add("a circuit", identity);
        assertThat(open.removeRevoked(anchors, lists, now)).isEmpty();
        assertThat(open.removeRevoked(after, lists, now))
                .extracting(ended -> ended.refusal().clause())
                .containsExactly(IdentityClause.ISSUER);
    }

    @Test
    void a_delivered_list_ends_what_the_revoked_had_open_and_no_one_elses() throws Exception {
        byte[] bad = host("h1");
        RevocableSessions<String> open = new RevocableSessions<>();
        open.add("link of h1", verify(bad));
        open.add("link of h2", verify(host("h2")));
        RevocationLists after = lists.with(list(site, 2, bad), now);
        assertThat(open.removeRevoked(anchors, after, now)).singleElement().satisfies(ended -> {
            assertThat(ended.what()).isEqualTo("link of h1");
            assertThat(ended.refusal().clause()).isEqualTo(IdentityClause.REVOKED);
        });
        assertThat(open.removeRevoked(anchors, after, now)).isEmpty();
        assertThat(refused(ALL, anchors, after, now, bad)).isEqualTo(IdentityClause.REVOKED);
    }

    @Test
    void a_revoked_person_takes_along_what_the_person_certified() throws Exception {
        byte[] above = person(Set.of(CertificateRole.MEMBER));
        byte[] mine =
                load(above, person).issue(name("cat", CertificateRole.MEMBER), KeySamples.subject(leaf), now, DAY);
        assertThat(refused(ALL, anchors, lists.with(list(owner, 2, above), now), now, mine, above))
                .isEqualTo(IdentityClause.REVOKED);
    }

    @Test
    void a_withheld_list_ends_everything_when_the_last_one_expires() throws Exception {
        RevocableSessions<String> open = new RevocableSessions<>();
        byte[] long1 = person(Set.of(CertificateRole.MEMBER));
        Instant later = now.plus(DAY).plusSeconds(1);
        byte[] mine = load(long1, person)
                .issue(
                        name("cat", CertificateRole.MEMBER),
                        KeySamples.subject(leaf),
                        now.plus(Duration.ofHours(12)),
                        DAY);
        CertifiedIdentity identity = CertificateChain.parse(List.of(mine, long1))
                .verify(ALL, anchors, lists, now.plus(Duration.ofHours(12)));
        open.add("circuit", identity);
        assertThat(open.removeRevoked(anchors, lists, later))
                .extracting(ended -> ended.refusal().clause())
                .containsExactly(IdentityClause.LIST);
    }

    @Test
    void an_older_list_and_another_of_the_same_number_are_refused() throws Exception {
        byte[] bad = host("h1");
        RevocationLists after = lists.with(list(site, 3, bad), now);
        for (int number : new int[] {2, 3}) {
            Throwable thrown = catchThrowable(() -> after.with(list(site, number), now));
            assertThat(((IdentityRefusedException) thrown).clause())
                    .isEqualTo(number == 3 ? IdentityClause.FORK : IdentityClause.NUMBER);
        }
        RevocationList unknown = list(authority(project, ben), 9);
        assertThat(refused(ALL, anchors, RevocationLists.none().with(unknown, now), now, bad))
                .isEqualTo(IdentityClause.LIST);
        assertThat(catchThrowable(() -> RevocationList.read(list(site, 9).bytes(), List.of(ann.verificationKey()))))
                .isInstanceOf(IdentityRefusedException.class);
    }

    /** Whoever has an authority's key can sign anything. */
    private byte[] forged(byte[] issuer, SigningKey key, String name, SignatureCurve curve) throws Exception {
        return forged(issuer, key, new GeneralName(GeneralName.dNSName, name), curve);
    }

    private byte[] forgedNames(int kind, String value) throws Exception {
        return forged(site.certificate(), cas, new GeneralName(kind, value), SignatureCurve.P256);
    }

    private byte[] forged(byte[] issuer, SigningKey key, GeneralName name, SignatureCurve curve) throws Exception {
        X509CertificateHolder above = new X509CertificateHolder(issuer);
        SigningKey subject = curve == SignatureCurve.P384 ? leaf : small;
        X509v3CertificateBuilder builder = new X509v3CertificateBuilder(
                above.getSubject(),
                BigInteger.TEN,
                Date.from(now.minusSeconds(60)),
                Date.from(now.plusSeconds(600)),
                new X500Name(
                        above.getSubject().getRDNs()[0].getFirst().getType().getId() + "="
                                + above.getSubject().getRDNs()[0].getFirst().getValue()),
                KeySamples.subject(subject).info());
        builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(false));
        builder.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.digitalSignature));
        builder.addExtension(Extension.extendedKeyUsage, false, new ExtendedKeyUsage(new KeyPurposeId[] {
            KeyPurposeId.id_kp_serverAuth, KeyPurposeId.id_kp_clientAuth
        }));
        builder.addExtension(Extension.subjectAlternativeName, false, new GeneralNames(name));
        return builder.build(new CertificateBuilder.Content(
                        key::sign, key.verificationKey().curve()))
                .getEncoded();
    }
}
