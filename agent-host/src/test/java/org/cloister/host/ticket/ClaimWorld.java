package org.cloister.host.ticket;

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
import org.cloister.protocol.Digest;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Approval;
import org.cloister.protocol.identity.Authority;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Owners;
import org.cloister.protocol.identity.ProjectDocument;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.identity.SubjectKey;
import org.cloister.protocol.ticket.Address;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.Network;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.ProjectPapers;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Slot;
import org.cloister.protocol.ticket.Ticket;

/** A site with a relay and a host, and a project with a controlling VM, each with keys of its own. */
final class ClaimWorld {
    static final Instant NOW = Instant.parse("2026-11-21T10:00:00Z");
    static final long JOB = 4711;
    static final String OPENING = "o".repeat(26);
    private static final Duration DAY = Duration.ofHours(24);
    private static final SecureRandom RANDOM = new SecureRandom();

    final SigningKey siteKey = key(Curve.P256);
    final SigningKey host = key(Curve.P256);
    final SigningKey ann = key(Curve.P384);
    final SigningKey ben = key(Curve.P384);
    final SigningKey eve = key(Curve.P384);
    final SigningKey controllerKey = key(Curve.P384);
    final SigningKey openerKey = key(Curve.P384);
    final List<byte[]> opener;
    private final SigningKey relayKey = key(Curve.P256);
    final ProjectHistory genesis;
    final Authority annsOwn;
    final List<byte[]> controller;
    final Identity relay;
    final Ticket ticket;
    final Allocation allocation;

    /** What a claim is answered with; a test changes it. */
    ProjectHistory history;

    ByteString approval;
    ByteString list;

    ClaimWorld() throws IOException, GeneralSecurityException {
        Authority site = Authority.ofSite(SubjectKey.of(siteKey.verificationKey()), siteKey::sign, NOW, DAY, RANDOM);
        byte[] payload = ProjectDocument.genesis(owners(ann, ben), NOW.minus(DAY), RANDOM);
        genesis = ProjectHistory.begin(Envelope.sign(ProjectDocument.GENESIS, payload, ann)
                .countersign(ben)
                .bytes());
        annsOwn = Authority.ofProject(genesis.id(), SubjectKey.of(ann.verificationKey()), ann::sign, NOW, DAY, RANDOM);
        controller = List.of(annsOwn.issue(
                new Name("c1", "controller", genesis.id()),
                SubjectKey.of(controllerKey.verificationKey()),
                NOW,
                DAY.minusHours(1)));
        opener = List.of(annsOwn.issue(
                new Name("olga", "opener", genesis.id()),
                SubjectKey.of(openerKey.verificationKey()),
                NOW,
                DAY.minusHours(1)));
        Name name = new Name("r1", "relay", Name.SITE);
        relay = Chain.parse(
                        List.of(site.issue(name, SubjectKey.of(relayKey.verificationKey()), NOW, DAY.minusHours(1))))
                .verifyUnlisted(List.of(Role.RELAY), anchors(), NOW);
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
                Network.parse("10.64.12.0/22"),
                List.of(new Slot(
                        0,
                        "n0",
                        new Name("h1", "host", Name.SITE),
                        host.verificationKey(),
                        Address.parse("10.64.12.2"),
                        12,
                        8192)));
        history = genesis;
        approval = approval(1, NOW.plus(DAY), siteKey);
        list = list(1);
    }

    /** What a host believes before it has heard of any project. */
    Anchors anchors() {
        return Anchors.none().withSite(List.of(siteKey.verificationKey()));
    }

    ByteString approval(long number, Instant until, SigningKey signer) throws GeneralSecurityException {
        return approval(genesis.id(), number, until, signer);
    }

    static ByteString approval(String project, long number, Instant until, SigningKey signer)
            throws GeneralSecurityException {
        Approval made = new Approval(
                project, number, "lab", NOW.minus(DAY), until, new Approval.Quota(10, 100, 1 << 20, 10, 10, 10));
        return ByteString.copyFrom(
                Envelope.sign(Approval.TYPE, made.payload(), signer).bytes());
    }

    /** Of ann, who certified the controlling VM. */
    ByteString list(long number, BigInteger... serials) throws IOException {
        List<Authority.Revocation> revoked = new ArrayList<>();
        for (BigInteger each : serials) {
            revoked.add(new Authority.Revocation(each, NOW));
        }
        return ByteString.copyFrom(annsOwn.revoke(revoked, BigInteger.valueOf(number), NOW, DAY.minusHours(1)));
    }

    /** Both owners go on, and with them who is added. */
    static ProjectHistory successor(ProjectHistory before, Owners owners, SigningKey... signers)
            throws IOException, GeneralSecurityException {
        return before.with(successorEnvelope(before, owners, signers));
    }

    static byte[] successorEnvelope(ProjectHistory before, Owners owners, SigningKey... signers)
            throws GeneralSecurityException {
        Envelope envelope = Envelope.sign(ProjectDocument.SUCCESSOR, before.successor(owners, NOW), signers[0]);
        for (int i = 1; i < signers.length; i++) {
            envelope = envelope.countersign(signers[i]);
        }
        return envelope.bytes();
    }

    static Owners owners(SigningKey... keys) {
        List<Owners.Owner> owners = new ArrayList<>();
        for (SigningKey each : keys) {
            owners.add(new Owners.Owner("o" + owners.size(), each.verificationKey()));
        }
        return new Owners(2, owners);
    }

    ProjectPapers papers() {
        return new ProjectPapers(
                history.envelopes().stream().map(ByteString::copyFrom).toList(), approval, list);
    }

    OfficeMessage.Claimed claimed(ProjectPapers papers) throws GeneralSecurityException {
        return claimed(papers, controller);
    }

    OfficeMessage.Claimed claimed(ProjectPapers papers, List<byte[]> chain) throws GeneralSecurityException {
        return claimed(papers, chain, ticket.epoch());
    }

    /** @param life epoch of the controlling VM whose word it is */
    OfficeMessage.Claimed claimed(ProjectPapers papers, long life) throws GeneralSecurityException {
        return claimed(papers, controller, life);
    }

    private OfficeMessage.Claimed claimed(ProjectPapers papers, List<byte[]> chain, long life)
            throws GeneralSecurityException {
        return new OfficeMessage.Claimed(
                ByteString.copyFrom(ticket.sign(controllerKey, life).bytes()),
                chain.stream().map(ByteString::copyFrom).toList(),
                ByteString.copyFrom(allocation.sign(relayKey).bytes()),
                ByteString.EMPTY,
                papers);
    }

    /** The same for an opening of the project's drive. */
    OfficeMessage.Claimed opened(long epoch, String address) throws GeneralSecurityException {
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
                List.of(new Slot(
                        0,
                        "n0",
                        new Name("h1", "host", Name.SITE),
                        host.verificationKey(),
                        Address.parse(address),
                        2,
                        2048)));
        return new OfficeMessage.Claimed(
                ByteString.copyFrom(opening.sign(openerKey).bytes()),
                opener.stream().map(ByteString::copyFrom).toList(),
                ByteString.copyFrom(its.sign(relayKey).bytes()),
                ByteString.EMPTY,
                papers());
    }

    static SigningKey key(Curve curve) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(curve.standardName()));
            return SigningKey.of(generator.generateKeyPair());
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
