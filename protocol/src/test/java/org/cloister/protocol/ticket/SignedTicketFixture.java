package org.cloister.protocol.ticket;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.ProjectDocument;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.ProjectOwners;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.identity.TrustAnchors;

/** A site with a relay and hosts, and a project with a controlling VM, as their keys make them. */
public final class SignedTicketFixture {
    public static final Instant NOW = Instant.parse("2026-11-21T10:00:00Z");
    public static final Duration DAY = Duration.ofHours(24);
    private static final SecureRandom RANDOM = new SecureRandom();

    /** Somebody with a key and the chain of it. */
    public record Signer(CertificateName name, SigningKey key, List<byte[]> chain) {}

    public final SigningKey siteKey = key(SignatureCurve.P256);
    public final SigningKey ann = key(SignatureCurve.P384);
    public final SigningKey ben = key(SignatureCurve.P384);
    public final CertificateAuthority site;
    public final CertificateAuthority owner;
    public final ProjectHistory project;
    public final Signer controller;
    public final Signer opener;
    public final Signer relay;
    public final List<Signer> hosts = new ArrayList<>();

    public SignedTicketFixture() throws IOException, GeneralSecurityException {
        ProjectOwners owners = new ProjectOwners(
                2,
                List.of(
                        new ProjectOwners.Owner("ann", ann.verificationKey()),
                        new ProjectOwners.Owner("ben", ben.verificationKey())));
        byte[] genesis = ProjectDocument.genesis(owners, NOW.minus(DAY), RANDOM);
        project = ProjectHistory.fromGenesis(DsseEnvelope.sign(ProjectDocument.GENESIS, genesis, ann)
                .countersign(ben)
                .bytes());
        site = CertificateAuthority.ofSite(subject(siteKey), siteKey::sign, NOW, DAY.multipliedBy(30), RANDOM);
        owner = CertificateAuthority.ofProject(
                project.id(), subject(ann), ann::sign, NOW, DAY.multipliedBy(30), RANDOM);
        controller = party(owner, new CertificateName("c1", "controller", project.id()));
        opener = party(owner, new CertificateName("eve", "opener", project.id()));
        relay = party(site, new CertificateName("r1", "relay", CertificateName.SITE));
        hosts.add(party(site, new CertificateName("h1", "host", CertificateName.SITE)));
        hosts.add(party(site, new CertificateName("h2", "host", CertificateName.SITE)));
    }

    public static SigningKey key(SignatureCurve curve) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(curve.standardName()));
            return SigningKey.of(generator.generateKeyPair());
        } catch (GeneralSecurityException | MalformedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static Signer party(CertificateAuthority authority, CertificateName name) throws IOException {
        return party(
                authority,
                name,
                key(CertificateRole.of(name.role()).orElseThrow().curve()));
    }

    public static Signer party(CertificateAuthority authority, CertificateName name, SigningKey key)
            throws IOException {
        return new Signer(name, key, List.of(authority.issue(name, subject(key), NOW, DAY)));
    }

    public TrustAnchors anchors() {
        return TrustAnchors.none().withSite(List.of(siteKey.verificationKey())).withProject(project);
    }

    public CertifiedIdentity identity(Signer signer) throws IOException {
        return CertificateChain.parse(signer.chain()).verifyUnlisted(List.of(CertificateRole.values()), anchors(), NOW);
    }

    public ResourceRequest request() {
        return new ResourceRequest(2, OptionalInt.of(5), 4, OptionalInt.of(3), 8192, 1024, false, 60, List.of(0, 2));
    }

    public Ticket ticket(ResourceRequest request) {
        return new Ticket(Ticket.newId(RANDOM), project.id(), 3, 7, NOW, NOW.plus(Duration.ofMinutes(10)), request);
    }

    public SignedTicket signed(Ticket ticket) throws IOException, GeneralSecurityException {
        return SignedTicket.read(ticket.sign(controller.key()).bytes(), identity(controller));
    }

    public Opening opening(long epoch) {
        return new Opening(
                Ticket.newId(RANDOM),
                project.id(),
                epoch,
                NOW,
                NOW.plus(Duration.ofMinutes(10)),
                "main",
                65_536,
                12,
                8192,
                10_080);
    }

    public SignedOpening signed(Opening opening) throws IOException, GeneralSecurityException {
        return SignedOpening.read(opening.sign(opener.key()).bytes(), identity(opener));
    }

    public List<AllocatedSlot> slots() {
        List<AllocatedSlot> slots = new ArrayList<>();
        for (Signer host : hosts) {
            int i = slots.size();
            slots.add(new AllocatedSlot(
                    i,
                    "n" + i,
                    host.name(),
                    host.key().verificationKey(),
                    ProjectAddress.parse("10.64.12." + (i + 2)),
                    12,
                    8192));
        }
        return slots;
    }

    public Allocation allocation(Ticket ticket, List<AllocatedSlot> slots) {
        return allocation(ticket.id(), Digest.sha256(ticket.payload()), slots);
    }

    public Allocation allocation(Opening opening, List<AllocatedSlot> slots) {
        return allocation(opening.id(), Digest.sha256(opening.payload()), slots);
    }

    private Allocation allocation(String id, Digest digest, List<AllocatedSlot> slots) {
        return new Allocation(
                relay.name(),
                project.id(),
                id,
                digest,
                4711,
                NOW.plusSeconds(30),
                103,
                ProjectSubnet.parse("10.64.12.0/22"),
                slots);
    }

    static SubjectPublicKey subject(SigningKey key) {
        return SubjectPublicKey.of(key.verificationKey());
    }
}
