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
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;
import org.junit.jupiter.api.Test;

class ChainTest {
    private static final Duration DAY = Duration.ofHours(24);
    private static final Set<Role> ALL = EnumSet.allOf(Role.class);

    private final Instant now = Instant.parse("2026-11-21T10:00:00Z");
    private final SecureRandom random = new SecureRandom();
    private final SigningKey ann = Keys.signing(Curve.P384);
    private final SigningKey ben = Keys.signing(Curve.P384);
    private final SigningKey cas = Keys.signing(Curve.P256);
    private final SigningKey person = Keys.signing(Curve.P384);
    private final SigningKey boot = Keys.signing(Curve.P384);
    private final SigningKey leaf = Keys.signing(Curve.P384);
    private final SigningKey small = Keys.signing(Curve.P256);
    private final ProjectHistory project = project(ann, ben);
    private final Authority owner = authority(project, ann);
    private final Authority site = Authority.ofSite(Keys.subject(cas), cas::sign, now, Duration.ofDays(365), random);
    private final Anchors anchors = Anchors.none().withProject(project).withSite(List.of(cas.verificationKey()));
    private final RevocationLists lists =
            RevocationLists.none().with(list(owner, 1), now).with(list(site, 1), now);

    ChainTest() throws Exception {}

    private ProjectHistory project(SigningKey one, SigningKey other) throws Exception {
        Owners owners = new Owners(2, List.of(Keys.owner("ann", one), Keys.owner("ben", other)));
        byte[] payload = ProjectDocument.genesis(owners, now, random);
        return ProjectHistory.begin(Keys.sign(ProjectDocument.GENESIS, payload, List.of(one, other)));
    }

    private Authority authority(ProjectHistory of, SigningKey key) throws Exception {
        return Authority.ofProject(of.id(), Keys.subject(key), key::sign, now, Duration.ofDays(300), random);
    }

    private RevocationList list(Authority by, int number, byte[]... revoked) throws Exception {
        List<Authority.Revocation> entries = new ArrayList<>();
        for (byte[] each : revoked) {
            entries.add(new Authority.Revocation(new X509CertificateHolder(each).getSerialNumber(), now));
        }
        byte[] der = by.revoke(entries, BigInteger.valueOf(number), now, DAY);
        return RevocationList.read(der, List.of(ann.verificationKey(), ben.verificationKey(), cas.verificationKey()));
    }

    private Name name(String id, Role role) {
        return new Name(id, role.toString(), role.isSite() ? Name.SITE : project.id());
    }

    private Identity verify(byte[]... chain) throws Exception {
        return Chain.parse(List.of(chain)).verify(ALL, anchors, lists, now);
    }

    private Clause refused(byte[]... chain) {
        return refused(ALL, anchors, lists, now, chain);
    }

    private static Clause refused(
            Collection<Role> roles, Anchors anchors, RevocationLists lists, Instant at, byte[]... chain) {
        Throwable thrown = catchThrowable(() -> Chain.parse(List.of(chain)).verify(roles, anchors, lists, at));
        assertThat(thrown).isInstanceOf(IdentityRefused.class);
        return ((IdentityRefused) thrown).clause();
    }

    private byte[] host(String id) throws Exception {
        return site.issue(name(id, Role.HOST), Keys.subject(small), now, DAY);
    }

    private byte[] person(Set<Role> roles) throws Exception {
        return owner.certifyPerson("cat", roles, Keys.subject(person), now, Duration.ofDays(7));
    }

    private Authority load(byte[] certificate, SigningKey key) throws Exception {
        return Authority.load(certificate, key::sign, random);
    }

    @Test
    void hosts_relays_and_owners_come_right_below_their_anchors() throws Exception {
        Identity host = verify(host("h1"));
        assertThat(host.name()).hasToString("h1.host.site.cloister.internal");
        assertThat(host.key()).isEqualTo(small.verificationKey());
        assertThat(verify(site.issue(name("r", Role.RELAY), Keys.subject(small), now, DAY))
                        .role())
                .isEqualTo(Role.RELAY);
        assertThat(verify(owner.issue(name("ann", Role.OWNER), Keys.subject(leaf), now, DAY))
                        .role())
                .isEqualTo(Role.OWNER);
    }

    @Test
    void a_person_certifies_its_own_roles_and_device_and_nothing_else() throws Exception {
        byte[] above = person(Set.of(Role.MEMBER, Role.EXPORTER));
        Authority own = load(above, person);
        for (Role role : List.of(Role.MEMBER, Role.EXPORTER, Role.DEVICE)) {
            SigningKey key = role == Role.DEVICE ? small : leaf;
            byte[] mine = own.issue(name("cat", role), Keys.subject(key), now, DAY);
            assertThat(verify(mine, above).name()).isEqualTo(name("cat", role));
        }
        for (Name other : List.of(
                name("dan", Role.MEMBER), name("cat", Role.OPENER), name("cat", Role.OWNER), name("w", Role.WORKER))) {
            assertThat(catchThrowable(() -> own.issue(other, Keys.subject(leaf), now, DAY)))
                    .isInstanceOf(RefusedException.class);
            assertThat(refused(forged(above, person, other.toString(), Curve.P384), above))
                    .isEqualTo(Clause.CONSTRAINT);
        }
    }

    @Test
    void an_opener_certifies_a_controlling_VM_and_that_its_workers() throws Exception {
        byte[] opener = person(Set.of(Role.OPENER));
        byte[] vm = load(opener, person).certifyController("c1", Keys.subject(boot), now, Duration.ofDays(3));
        Authority controller = load(vm, boot);
        byte[] worker = controller.issue(name("w1", Role.WORKER), Keys.subject(leaf), now, DAY);
        assertThat(verify(worker, vm, opener).role()).isEqualTo(Role.WORKER);
        assertThat(verify(controller.issue(name("c1", Role.CONTROLLER), Keys.subject(leaf), now, DAY), vm, opener)
                        .role())
                .isEqualTo(Role.CONTROLLER);
        for (Name other : List.of(name("c2", Role.CONTROLLER), name("cat", Role.MEMBER), name("ann", Role.OWNER))) {
            assertThat(refused(forged(vm, boot, other.toString(), Curve.P384), vm, opener))
                    .isEqualTo(Clause.CONSTRAINT);
        }
        assertThat(catchThrowable(
                        () -> controller.certifyController("c1", Keys.subject(leaf), now, Duration.ofDays(1))))
                .isInstanceOf(RefusedException.class);
        byte[] member = person(Set.of(Role.MEMBER));
        assertThat(catchThrowable(() -> load(member, person).certifyController("c1", Keys.subject(boot), now, DAY)))
                .isInstanceOf(RefusedException.class);
    }

    @Test
    void each_clause_refuses() throws Exception {
        byte[] good = host("h1");
        assertThat(refused()).isEqualTo(Clause.CHAIN);
        assertThat(refused(good, good, good, good)).isEqualTo(Clause.CHAIN);
        assertThat(refused(new byte[Chain.MAX_CERTIFICATE + 1])).isEqualTo(Clause.CHAIN);
        assertThat(refused(Arrays.copyOf(good, good.length + 1))).isEqualTo(Clause.CERTIFICATE);
        assertThat(refused(Arrays.copyOf(good, good.length - 1))).isEqualTo(Clause.CERTIFICATE);
        assertThat(refused(new byte[0])).isEqualTo(Clause.CERTIFICATE);
        assertThat(refused(site.certificate())).isEqualTo(Clause.NAME);
        assertThat(refused(forgedNames(GeneralName.iPAddress, "10.0.0.1"))).isEqualTo(Clause.NAME);
        assertThat(refused(forged(site.certificate(), cas, "h1.king.site.cloister.internal", Curve.P256)))
                .isEqualTo(Clause.ROLE);
        assertThat(refused(Set.of(Role.RELAY), anchors, lists, now, good)).isEqualTo(Clause.ROLE);
        assertThat(refused(forged(site.certificate(), cas, "h1.worker.site.cloister.internal", Curve.P384)))
                .isEqualTo(Clause.SCOPE);
        assertThat(refused(ALL, Anchors.none(), lists, now, good)).isEqualTo(Clause.SCOPE);
        assertThat(refused(forged(site.certificate(), cas, "h1.host.site.cloister.internal", Curve.P384)))
                .isEqualTo(Clause.KEY);
        assertThat(refused(ALL, anchors, lists, now.plus(DAY).plusSeconds(1), good))
                .isEqualTo(Clause.TIME);
        assertThat(refused(ALL, anchors, lists, now.minusSeconds(121), good)).isEqualTo(Clause.TIME);
        assertThat(refused(ALL, anchors, RevocationLists.none(), now, good)).isEqualTo(Clause.LIST);
        byte[] flipped = good.clone();
        flipped[flipped.length - 1] ^= 1;
        assertThat(refused(flipped)).isIn(Clause.ISSUER, Clause.CERTIFICATE);
    }

    @Test
    void an_authority_in_the_leafs_place_or_a_leaf_above_is_refused() throws Exception {
        byte[] above = person(Set.of(Role.MEMBER));
        byte[] mine = load(above, person).issue(name("cat", Role.MEMBER), Keys.subject(leaf), now, DAY);
        byte[] below = forged(mine, leaf, name("cat", Role.MEMBER).toString(), Curve.P384);
        assertThat(refused(below, mine, above)).isEqualTo(Clause.CERTIFICATE);
        assertThat(refused(above)).isEqualTo(Clause.NAME);
        assertThat(refused(mine)).isEqualTo(Clause.ISSUER);
    }

    @Test
    void a_member_of_one_project_is_nobody_in_another() throws Exception {
        ProjectHistory other = project(ben, ann);
        byte[] mine = owner.issue(name("ann", Role.OWNER), Keys.subject(leaf), now, DAY);
        Anchors only = Anchors.none().withProject(other);
        assertThat(refused(ALL, only, lists, now, mine)).isEqualTo(Clause.SCOPE);
        Authority theirs = authority(other, Keys.signing(Curve.P384));
        Name stolen = new Name("ann", "owner", other.id());
        byte[] forged = theirs.issue(stolen, Keys.subject(leaf), now, DAY);
        assertThat(refused(ALL, only, lists, now, forged)).isEqualTo(Clause.ISSUER);
    }

    @Test
    void a_site_authority_says_nothing_of_projects_and_an_owner_nothing_of_hosts() throws Exception {
        byte[] owned = forged(site.certificate(), cas, name("ann", Role.OWNER).toString(), Curve.P384);
        assertThat(refused(owned)).isEqualTo(Clause.ISSUER);
        byte[] hosted = forged(owner.certificate(), ann, "h1.host.site.cloister.internal", Curve.P256);
        assertThat(refused(hosted)).isEqualTo(Clause.ISSUER);
    }

    @Test
    void what_a_dropped_owner_certified_ends() throws Exception {
        byte[] mine = owner.issue(name("ann", Role.OWNER), Keys.subject(leaf), now, DAY);
        Identity identity = verify(mine);
        SigningKey eve = Keys.signing(Curve.P384);
        Owners without = new Owners(2, List.of(Keys.owner("ben", ben), Keys.owner("eve", eve)));
        ProjectHistory later = project.with(
                Keys.sign(ProjectDocument.SUCCESSOR, project.successor(without, now), List.of(ann, ben, eve)));
        Anchors after = anchors.withProject(later);
        assertThat(refused(ALL, after, lists, now, mine)).isEqualTo(Clause.ISSUER);
        OpenIdentities<String> open = new OpenIdentities<>();
        open.opened("a circuit", identity);
        assertThat(open.end(anchors, lists, now)).isEmpty();
        assertThat(open.end(after, lists, now))
                .extracting(ended -> ended.refusal().clause())
                .containsExactly(Clause.ISSUER);
    }

    @Test
    void a_delivered_list_ends_what_the_revoked_had_open_and_no_one_elses() throws Exception {
        byte[] bad = host("h1");
        OpenIdentities<String> open = new OpenIdentities<>();
        open.opened("link of h1", verify(bad));
        open.opened("link of h2", verify(host("h2")));
        RevocationLists after = lists.with(list(site, 2, bad), now);
        assertThat(open.end(anchors, after, now)).singleElement().satisfies(ended -> {
            assertThat(ended.what()).isEqualTo("link of h1");
            assertThat(ended.refusal().clause()).isEqualTo(Clause.REVOKED);
        });
        assertThat(open.end(anchors, after, now)).isEmpty();
        assertThat(refused(ALL, anchors, after, now, bad)).isEqualTo(Clause.REVOKED);
    }

    @Test
    void a_revoked_person_takes_along_what_the_person_certified() throws Exception {
        byte[] above = person(Set.of(Role.MEMBER));
        byte[] mine = load(above, person).issue(name("cat", Role.MEMBER), Keys.subject(leaf), now, DAY);
        assertThat(refused(ALL, anchors, lists.with(list(owner, 2, above), now), now, mine, above))
                .isEqualTo(Clause.REVOKED);
    }

    @Test
    void a_withheld_list_ends_everything_when_the_last_one_expires() throws Exception {
        OpenIdentities<String> open = new OpenIdentities<>();
        byte[] long1 = person(Set.of(Role.MEMBER));
        Instant later = now.plus(DAY).plusSeconds(1);
        byte[] mine = load(long1, person)
                .issue(name("cat", Role.MEMBER), Keys.subject(leaf), now.plus(Duration.ofHours(12)), DAY);
        Identity identity =
                Chain.parse(List.of(mine, long1)).verify(ALL, anchors, lists, now.plus(Duration.ofHours(12)));
        open.opened("circuit", identity);
        assertThat(open.end(anchors, lists, later))
                .extracting(ended -> ended.refusal().clause())
                .containsExactly(Clause.LIST);
    }

    @Test
    void an_older_list_and_another_of_the_same_number_are_refused() throws Exception {
        byte[] bad = host("h1");
        RevocationLists after = lists.with(list(site, 3, bad), now);
        for (int number : new int[] {2, 3}) {
            Throwable thrown = catchThrowable(() -> after.with(list(site, number), now));
            assertThat(((IdentityRefused) thrown).clause()).isEqualTo(number == 3 ? Clause.FORK : Clause.NUMBER);
        }
        RevocationList stranger = list(authority(project, ben), 9);
        assertThat(refused(ALL, anchors, RevocationLists.none().with(stranger, now), now, bad))
                .isEqualTo(Clause.LIST);
        assertThat(catchThrowable(() -> RevocationList.read(list(site, 9).bytes(), List.of(ann.verificationKey()))))
                .isInstanceOf(IdentityRefused.class);
    }

    /** Whoever has an authority's key can sign anything. */
    private byte[] forged(byte[] issuer, SigningKey key, String name, Curve curve) throws Exception {
        return forged(issuer, key, new GeneralName(GeneralName.dNSName, name), curve);
    }

    private byte[] forgedNames(int kind, String value) throws Exception {
        return forged(site.certificate(), cas, new GeneralName(kind, value), Curve.P256);
    }

    private byte[] forged(byte[] issuer, SigningKey key, GeneralName name, Curve curve) throws Exception {
        X509CertificateHolder above = new X509CertificateHolder(issuer);
        SigningKey subject = curve == Curve.P384 ? leaf : small;
        X509v3CertificateBuilder builder = new X509v3CertificateBuilder(
                above.getSubject(),
                BigInteger.TEN,
                Date.from(now.minusSeconds(60)),
                Date.from(now.plusSeconds(600)),
                new X500Name(
                        above.getSubject().getRDNs()[0].getFirst().getType().getId() + "="
                                + above.getSubject().getRDNs()[0].getFirst().getValue()),
                Keys.subject(subject).info());
        builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(false));
        builder.addExtension(Extension.keyUsage, true, new KeyUsage(KeyUsage.digitalSignature));
        builder.addExtension(Extension.extendedKeyUsage, false, new ExtendedKeyUsage(new KeyPurposeId[] {
            KeyPurposeId.id_kp_serverAuth, KeyPurposeId.id_kp_clientAuth
        }));
        builder.addExtension(Extension.subjectAlternativeName, false, new GeneralNames(name));
        return builder.build(new CertificateDraft.Content(
                        key::sign, key.verificationKey().curve()))
                .getEncoded();
    }
}
