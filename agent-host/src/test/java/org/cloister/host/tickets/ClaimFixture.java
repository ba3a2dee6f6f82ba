package org.cloister.host.tickets;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.math.BigInteger;
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
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.ProjectApproval;
import org.cloister.protocol.identity.ProjectDocument;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.ProjectOwners;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.ProjectAddress;
import org.cloister.protocol.ticket.ProjectSubnet;
import org.cloister.protocol.ticket.ProjectTrustBundle;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;

/** A site with a relay and a host, and a project with a controlling VM, each with keys of its own. */
final class ClaimFixture {
    static final Instant NOW = Instant.parse("2026-11-21T10:00:00Z");
    static final long JOB = 4711;
    static final String OPENING = "o".repeat(26);
    private static final Duration DAY = Duration.ofHours(24);
    private static final SecureRandom RANDOM = new SecureRandom();

    final SigningKey siteKey = key(SignatureCurve.P256);
    final SigningKey host = key(SignatureCurve.P256);
    final SigningKey ann = key(SignatureCurve.P384);
    final SigningKey ben = key(SignatureCurve.P384);
    final SigningKey eve = key(SignatureCurve.P384);
    final SigningKey controllerKey = key(SignatureCurve.P384);
    final SigningKey openerKey = key(SignatureCurve.P384);
    final List<byte[]> opener;
    private final SigningKey relayKey = key(SignatureCurve.P256);
    final ProjectHistory genesis;
    final CertificateAuthority annsOwn;
    final List<byte[]> controller;
    final CertifiedIdentity relay;
    final Ticket ticket;
    final Allocation allocation;

    /** What a claim is answered with; a test changes it. */
    ProjectHistory history;

    ByteString approval;
    ByteString list;

    ClaimFixture() throws IOException, GeneralSecurityException {
        CertificateAuthority site = CertificateAuthority.ofSite(
                SubjectPublicKey.of(siteKey.verificationKey()), siteKey::sign, NOW, DAY, RANDOM);
        byte[] payload = ProjectDocument.genesis(owners(ann, ben), NOW.minus(DAY), RANDOM);
        genesis = ProjectHistory.fromGenesis(DsseEnvelope.sign(ProjectDocument.GENESIS, payload, ann)
                .countersign(ben)
                .bytes());
        annsOwn = CertificateAuthority.ofProject(
                genesis.id(), SubjectPublicKey.of(ann.verificationKey()), ann::sign, NOW, DAY, RANDOM);
        controller = List.of(annsOwn.issue(
                new CertificateName("c1", "controller", genesis.id()),
                SubjectPublicKey.of(controllerKey.verificationKey()),
                NOW,
                DAY.minusHours(1)));
        opener = List.of(annsOwn.issue(
                new CertificateName("olga", "opener", genesis.id()),
                SubjectPublicKey.of(openerKey.verificationKey()),
                NOW,
                DAY.minusHours(1)));
        CertificateName name = new CertificateName("r1", "relay", CertificateName.SITE);
        relay = CertificateChain.parse(List.of(
                        site.issue(name, SubjectPublicKey.of(relayKey.verificationKey()), NOW, DAY.minusHours(1))))
                .verifyUnlisted(List.of(CertificateRole.RELAY), anchors(), NOW);
        ResourceRequest request =
                new ResourceRequest(1, OptionalInt.empty(), 12, OptionalInt.empty(), 8192, 0, false, 60, List.of());
        ticket = new Ticket(Ticket.newId(RANDOM), genesis.id(), 3, 7, NOW, NOW.plus(Duration.ofMinutes(10)), request);
        allocation = new Allocation(
                name,
                genesis.id(),
                ticket.id(),
                Digest.sha256(ticket.payload()),
                JOB,
                NOW.plusSeconds(30),
                103,
                ProjectSubnet.parse("10.64.12.0/22"),
                List.of(new AllocatedSlot(
                        0,
                        "n0",
                        new CertificateName("h1", "host", CertificateName.SITE),
                        host.verificationKey(),
                        ProjectAddress.parse("10.64.12.2"),
                        12,
                        8192)));
        history = genesis;
        approval = approval(1, NOW.plus(DAY), siteKey);
        list = list(1);
    }

    /** What a host believes before it has heard of any project. */
    TrustAnchors anchors() {
        return TrustAnchors.none().withSite(List.of(siteKey.verificationKey()));
    }

    ByteString approval(long number, Instant until, SigningKey signer) throws GeneralSecurityException {
        return approval(genesis.id(), number, until, signer);
    }

    static ByteString approval(String project, long number, Instant until, SigningKey signer)
            throws GeneralSecurityException {
        ProjectApproval made = new ProjectApproval(
                project, number, "lab", NOW.minus(DAY), until, new ProjectApproval.Quota(10, 100, 1 << 20, 10, 10, 10));
        return ByteString.copyFrom(
                DsseEnvelope.sign(ProjectApproval.TYPE, made.payload(), signer).bytes());
    }

    /** Of ann, who certified the controlling VM. */
    ByteString list(long number, BigInteger... serials) throws IOException {
        List<CertificateAuthority.Revocation> revoked = new ArrayList<>();
        for (BigInteger each : serials) {
            revoked.add(new CertificateAuthority.Revocation(each, NOW));
        }
        return ByteString.copyFrom(annsOwn.revoke(revoked, BigInteger.valueOf(number), NOW, DAY.minusHours(1)));
    }

    /** Both owners go on, and with them who is added. */
    static ProjectHistory successor(ProjectHistory before, ProjectOwners owners, SigningKey... signers)
            throws IOException, GeneralSecurityException {
        return before.with(successorEnvelope(before, owners, signers));
    }

    static byte[] successorEnvelope(ProjectHistory before, ProjectOwners owners, SigningKey... signers)
            throws GeneralSecurityException {
        DsseEnvelope envelope = DsseEnvelope.sign(ProjectDocument.SUCCESSOR, before.successor(owners, NOW), signers[0]);
        for (int i = 1; i < signers.length; i++) {
            envelope = envelope.countersign(signers[i]);
        }
        return envelope.bytes();
    }

    static ProjectOwners owners(SigningKey... keys) {
        List<ProjectOwners.Owner> owners = new ArrayList<>();
        for (SigningKey each : keys) {
            owners.add(new ProjectOwners.Owner("o" + owners.size(), each.verificationKey()));
        }
        return new ProjectOwners(2, owners);
    }

    ProjectTrustBundle bundle() {
        return new ProjectTrustBundle(
                history.envelopes().stream().map(ByteString::copyFrom).toList(), approval, list);
    }

    RelayTicketMessage.Claimed claimed(ProjectTrustBundle bundle) throws GeneralSecurityException {
        return claimed(bundle, controller);
    }

    RelayTicketMessage.Claimed claimed(ProjectTrustBundle bundle, List<byte[]> chain) throws GeneralSecurityException {
        return claimed(bundle, chain, ticket.epoch());
    }

    /** @param epoch epoch of the controlling VM whose word it is */
    RelayTicketMessage.Claimed claimed(ProjectTrustBundle bundle, long epoch) throws GeneralSecurityException {
        return claimed(bundle, controller, epoch);
    }

    private RelayTicketMessage.Claimed claimed(ProjectTrustBundle bundle, List<byte[]> chain, long epoch)
            throws GeneralSecurityException {
        return new RelayTicketMessage.Claimed(
                ByteString.copyFrom(ticket.sign(controllerKey, epoch).bytes()),
                chain.stream().map(ByteString::copyFrom).toList(),
                ByteString.copyFrom(allocation.sign(relayKey).bytes()),
                ByteString.EMPTY,
                bundle);
    }

    /** The same for an opening of the project's drive. */
    RelayTicketMessage.Claimed opened(long epoch, String address) throws GeneralSecurityException {
        Opening opening = new Opening(
                OPENING, genesis.id(), epoch, NOW, NOW.plus(Duration.ofMinutes(10)), "main", 16, 2, 2048, 600);
        Allocation its = new Allocation(
                allocation.relay(),
                genesis.id(),
                OPENING,
                Digest.sha256(opening.payload()),
                JOB,
                NOW.plusSeconds(30),
                103,
                allocation.network(),
                List.of(new AllocatedSlot(
                        0,
                        "n0",
                        new CertificateName("h1", "host", CertificateName.SITE),
                        host.verificationKey(),
                        ProjectAddress.parse(address),
                        2,
                        2048)));
        return new RelayTicketMessage.Claimed(
                ByteString.copyFrom(opening.sign(openerKey).bytes()),
                opener.stream().map(ByteString::copyFrom).toList(),
                ByteString.copyFrom(its.sign(relayKey).bytes()),
                ByteString.EMPTY,
                bundle());
    }

    static SigningKey key(SignatureCurve curve) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(curve.standardName()));
            return SigningKey.of(generator.generateKeyPair());
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
