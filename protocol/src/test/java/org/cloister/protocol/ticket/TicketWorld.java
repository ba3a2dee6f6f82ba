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
import org.cloister.protocol.Digest;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Authority;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Owners;
import org.cloister.protocol.identity.ProjectDocument;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.identity.SubjectKey;

/** A site with a relay and hosts, and a project with a controlling VM, as their keys make them. */
public final class TicketWorld {
    public static final Instant NOW = Instant.parse("2026-11-21T10:00:00Z");
    public static final Duration DAY = Duration.ofHours(24);
    private static final SecureRandom RANDOM = new SecureRandom();

    /** Somebody with a key and the chain of it. */
    public record Party(Name name, SigningKey key, List<byte[]> chain) {}

    public final SigningKey siteKey = key(Curve.P256);
    public final SigningKey ann = key(Curve.P384);
    public final SigningKey ben = key(Curve.P384);
    public final Authority site;
    public final Authority owner;
    public final ProjectHistory project;
    public final Party controller;
    public final Party opener;
    public final Party relay;
    public final List<Party> hosts = new ArrayList<>();

    public TicketWorld() throws IOException, GeneralSecurityException {
        Owners owners = new Owners(
                2,
                List.of(
                        new Owners.Owner("ann", ann.verificationKey()),
                        new Owners.Owner("ben", ben.verificationKey())));
        byte[] genesis = ProjectDocument.genesis(owners, NOW.minus(DAY), RANDOM);
        project = ProjectHistory.begin(Envelope.sign(ProjectDocument.GENESIS, genesis, ann)
                .countersign(ben)
                .bytes());
        site = Authority.ofSite(subject(siteKey), siteKey::sign, NOW, DAY.multipliedBy(30), RANDOM);
        owner = Authority.ofProject(project.id(), subject(ann), ann::sign, NOW, DAY.multipliedBy(30), RANDOM);
        controller = party(owner, new Name("c1", "controller", project.id()));
        opener = party(owner, new Name("eve", "opener", project.id()));
        relay = party(site, new Name("r1", "relay", Name.SITE));
        hosts.add(party(site, new Name("h1", "host", Name.SITE)));
        hosts.add(party(site, new Name("h2", "host", Name.SITE)));
    }

    public static SigningKey key(Curve curve) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(curve.standardName()));
            return SigningKey.of(generator.generateKeyPair());
        } catch (GeneralSecurityException | MalformedException e) {
            throw new IllegalStateException(e);
        }
    }

    public static Party party(Authority authority, Name name) throws IOException {
        return party(authority, name, key(Role.of(name.role()).orElseThrow().curve()));
    }

    public static Party party(Authority authority, Name name, SigningKey key) throws IOException {
        return new Party(name, key, List.of(authority.issue(name, subject(key), NOW, DAY)));
    }

    public Anchors anchors() {
        return Anchors.none().withSite(List.of(siteKey.verificationKey())).withProject(project);
    }

    public Identity identity(Party party) throws IOException {
        return Chain.parse(party.chain()).verifyUnlisted(List.of(Role.values()), anchors(), NOW);
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

    public List<Slot> slots() {
        List<Slot> slots = new ArrayList<>();
        for (Party host : hosts) {
            int i = slots.size();
            slots.add(new Slot(
                    i,
                    "n" + i,
                    host.name(),
                    host.key().verificationKey(),
                    Address.parse("10.64.12." + (i + 2)),
                    12,
                    8192));
        }
        return slots;
    }

    public Allocation allocation(Ticket ticket, List<Slot> slots) {
        return allocation(ticket.id(), Digest.sha256(ticket.payload()), slots);
    }

    public Allocation allocation(Opening opening, List<Slot> slots) {
        return allocation(opening.id(), Digest.sha256(opening.payload()), slots);
    }

    private Allocation allocation(String id, Digest digest, List<Slot> slots) {
        return new Allocation(
                relay.name(),
                project.id(),
                id,
                digest,
                4711,
                NOW.plusSeconds(30),
                103,
                Network.parse("10.64.12.0/22"),
                slots);
    }

    static SubjectKey subject(SigningKey key) {
        return SubjectKey.of(key.verificationKey());
    }
}
