package org.cloister.protocol.handover;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.ProjectDocument;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.ProjectOwners;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.ticket.Opening;

/** A project with two owners, an opener, a controlling VM and a worker, each with the keys and papers that it would have. */
public final class BootFixture {
    public static final Instant NOW = Instant.parse("2026-11-21T10:00:00Z");
    public static final String TICKET = "mfrggzdfmztwq2lknnwg23tpob";
    public static final String OPENING = "tq4bcfcxfokh6sbolidgqd2f3i";
    public static final String DRIVE = "main";

    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Duration DAY = Duration.ofHours(24);

    public final ProjectHistory project;
    public final KeyPair boot = pair(SignatureCurve.P384);
    public final CertificateName worker;
    public final CertificateName controller;
    public final CertificateName opener;
    /** The worker's, the leaf first. */
    public final List<byte[]> workerChain;
    /** The controlling VM's authority and the opener's. */
    public final List<byte[]> authorities;

    public BootFixture() throws IOException, GeneralSecurityException {
        this(project(3));
    }

    public BootFixture(Project made) throws IOException, GeneralSecurityException {
        project = made.history;
        worker = WorkerName.of(TICKET, 3, project.id());
        controller = Opening.controller(DRIVE, project.id());
        opener = new CertificateName("cat", CertificateRole.OPENER.toString(), project.id());
        CertificateAuthority owner = CertificateAuthority.ofProject(
                project.id(),
                SubjectPublicKey.of(made.owner.verificationKey()),
                made.owner::sign,
                NOW,
                Duration.ofDays(300),
                RANDOM);
        SigningKey cat = SigningKey.of(pair(SignatureCurve.P384));
        byte[] cats = owner.certifyPerson(
                "cat",
                Set.of(CertificateRole.OPENER),
                SubjectPublicKey.of(cat.verificationKey()),
                NOW,
                Duration.ofDays(31));
        SigningKey its = SigningKey.of(pair(SignatureCurve.P384));
        byte[] controllers = CertificateAuthority.load(cats, cat::sign, RANDOM)
                .certifyController(
                        controller.id(), SubjectPublicKey.of(its.verificationKey()), NOW, Duration.ofDays(7));
        SigningKey key = SigningKey.of(boot);
        byte[] leaf = CertificateAuthority.load(controllers, its::sign, RANDOM)
                .issue(worker, SubjectPublicKey.of(key.verificationKey()), NOW, DAY);
        workerChain = List.of(leaf, controllers, cats);
        authorities = List.of(controllers, cats);
    }

    /** @param owner one of them */
    public record Project(ProjectHistory history, SigningKey owner) {}

    /** @param documents how many, the genesis among them */
    public static Project project(int documents) throws IOException, GeneralSecurityException {
        SigningKey ann = SigningKey.of(pair(SignatureCurve.P384));
        SigningKey ben = SigningKey.of(pair(SignatureCurve.P384));
        ProjectOwners owners = new ProjectOwners(
                1,
                List.of(
                        new ProjectOwners.Owner("ann", ann.verificationKey()),
                        new ProjectOwners.Owner("ben", ben.verificationKey())));
        DsseEnvelope genesis =
                DsseEnvelope.sign(ProjectDocument.GENESIS, ProjectDocument.genesis(owners, NOW, RANDOM), ann);
        ProjectHistory history =
                ProjectHistory.fromGenesis(genesis.countersign(ben).bytes());
        while (history.number() + 1 < documents) {
            history = history.with(DsseEnvelope.sign(ProjectDocument.SUCCESSOR, history.successor(owners, NOW), ann)
                    .bytes());
        }
        return new Project(history, ann);
    }

    public AssignmentMessage.Assigned assigned() {
        return new AssignmentMessage.Assigned(worker, TICKET, 3, controller, documents());
    }

    public List<ByteString> documents() {
        return project.envelopes().stream().map(ByteString::copyFrom).toList();
    }

    public static KeyPair pair(SignatureCurve curve) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(curve.standardName()));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }
}
