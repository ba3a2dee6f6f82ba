package org.cloister.relay;

import java.io.IOException;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Approval;
import org.cloister.protocol.identity.Authority;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Owners;
import org.cloister.protocol.identity.ProjectDocument;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.identity.SubjectKey;
import org.cloister.protocol.link.Credential;

/** A site and two projects that it serves, as their keys make them. */
final class Site {
    static final Duration DAY = Duration.ofHours(24);
    static final Approval.Quota QUOTA = new Approval.Quota(4, 64, 1 << 18, 8, 100, 20);

    final SigningKey key = SigningKey.of(pair(Curve.P256));
    final Authority authority;
    final Project a = new Project();
    final Project b = new Project();

    /** Two owners, the first of whom certifies everybody. */
    static final class Project {
        final SigningKey ann = SigningKey.of(pair(Curve.P384));
        final SigningKey ben = SigningKey.of(pair(Curve.P384));
        final byte[] genesis;
        final ProjectHistory history;
        final Authority authority;

        private Project() throws IOException, GeneralSecurityException {
            Owners owners = new Owners(
                    2,
                    List.of(
                            new Owners.Owner("ann", ann.verificationKey()),
                            new Owners.Owner("ben", ben.verificationKey())));
            genesis = sign(
                    ProjectDocument.GENESIS,
                    ProjectDocument.genesis(owners, Instant.now(), new SecureRandom()),
                    ann,
                    ben);
            history = ProjectHistory.begin(genesis);
            authority = Authority.ofProject(
                    history.id(), subject(ann), ann::sign, Instant.now(), DAY.multipliedBy(30), new SecureRandom());
        }

        String id() {
            return history.id();
        }

        Name name(String id, Role role) {
            return new Name(id, role.toString(), id());
        }
    }

    Site() throws IOException, GeneralSecurityException {
        authority = Authority.ofSite(subject(key), key::sign, Instant.now(), DAY.multipliedBy(30), new SecureRandom());
    }

    Anchors anchors() {
        return Anchors.none()
                .withSite(List.of(key.verificationKey()))
                .withProject(a.history)
                .withProject(b.history);
    }

    /** The first of each, which revoke nothing. */
    List<byte[]> lists() throws IOException {
        return List.of(list(authority, 1), list(a.authority, 1), list(b.authority, 1));
    }

    /** All that a new relay is told, in an order that it takes. */
    List<byte[]> deliveries() throws IOException, GeneralSecurityException {
        List<byte[]> all = new ArrayList<>(List.of(a.genesis, b.genesis, approval(a, 1, QUOTA), approval(b, 1, QUOTA)));
        all.addAll(lists());
        return all;
    }

    Authority authorityOf(String project) {
        return project.equals(Name.SITE) ? authority : project.equals(a.id()) ? a.authority : b.authority;
    }

    /** One that has ended, and so withdraws those before it. */
    byte[] ended(Project project, long number) throws GeneralSecurityException {
        Instant now = Instant.now();
        Approval approval =
                new Approval(project.id(), number, "chem", now.minusSeconds(60), now.minusSeconds(30), QUOTA);
        return sign(Approval.TYPE, approval.payload(), key);
    }

    byte[] approval(Project project, long number, Approval.Quota quota) throws GeneralSecurityException {
        Instant now = Instant.now();
        Approval approval =
                new Approval(project.id(), number, "chem", now.minusSeconds(60), now.plus(DAY.multipliedBy(30)), quota);
        return sign(Approval.TYPE, approval.payload(), key);
    }

    static byte[] list(Authority of, long number, Credential... revoked) throws IOException {
        return list(of, number, DAY, revoked);
    }

    static byte[] list(Authority of, long number, Duration life, Credential... revoked) throws IOException {
        return of.revoke(
                Arrays.stream(revoked)
                        .map(each ->
                                new Authority.Revocation(each.chain().get(0).getSerialNumber(), Instant.now()))
                        .toList(),
                BigInteger.valueOf(number),
                Instant.now(),
                life);
    }

    Credential credential(Name name) throws IOException, GeneralSecurityException {
        return credential(name, name.project());
    }

    /** Of a key that the caller has, for a life that the caller wants. */
    Credential credential(Name name, KeyPair pair, Duration life) throws IOException {
        SubjectKey subject = SubjectKey.of(VerificationKey.of(pair.getPublic()));
        byte[] der = authorityOf(name.project()).issue(name, subject, Instant.now(), life);
        return Credential.of(pair.getPrivate(), List.of(der));
    }

    /** Of an authority that may not have the right to it. */
    Credential credential(Name name, String project) throws IOException, GeneralSecurityException {
        KeyPair pair = pair(Role.of(name.role()).orElseThrow().curve());
        SubjectKey subject = SubjectKey.of(VerificationKey.of(pair.getPublic()));
        byte[] der = authorityOf(project).issue(name, subject, Instant.now(), DAY);
        return Credential.of(pair.getPrivate(), List.of(der));
    }

    static KeyPair pair(Curve curve) throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec(curve.standardName()));
        return generator.generateKeyPair();
    }

    private static SubjectKey subject(SigningKey key) {
        return SubjectKey.of(key.verificationKey());
    }

    static byte[] sign(String type, byte[] payload, SigningKey... keys) throws GeneralSecurityException {
        Envelope envelope = Envelope.sign(type, payload, keys[0]);
        for (SigningKey key : Arrays.asList(keys).subList(1, keys.length)) {
            envelope = envelope.countersign(key);
        }
        return envelope.bytes();
    }
}
