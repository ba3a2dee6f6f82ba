package org.cloister.vm.joining;

import com.google.protobuf.ByteString;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.cloister.luks.key.Crypto;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.key.SealingPublicKey;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.secret.Secrets;
import org.cloister.protocol.Digest;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.Claim;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.Issuer;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.Statement;
import org.cloister.protocol.evidence.StatementFolder;
import org.cloister.protocol.evidence.StatementRefused;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.handover.Accounts;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.handover.BootWorld;
import org.cloister.protocol.handover.FolderPath;
import org.cloister.protocol.handover.HandOver;
import org.cloister.protocol.handover.Job;
import org.cloister.protocol.handover.Mac;
import org.cloister.protocol.handover.Mount;
import org.cloister.protocol.handover.Place;
import org.cloister.protocol.handover.Readmission;
import org.cloister.protocol.handover.SealedSecret;
import org.cloister.protocol.handover.SealingContext;
import org.cloister.protocol.handover.SlotName;
import org.cloister.protocol.handover.Station;
import org.cloister.protocol.handover.User;
import org.cloister.protocol.identity.Authority;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.identity.SubjectKey;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.policy.AcceptedHost;
import org.cloister.protocol.policy.AcceptedImage;
import org.cloister.protocol.policy.AssuranceLevel;
import org.cloister.protocol.policy.Policy;
import org.cloister.protocol.policy.Shape;
import org.cloister.protocol.policy.Sharing;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.ticket.Address;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.Network;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Slot;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.vm.handover.Giver;
import org.cloister.vm.handover.Guest;

/** A project, its controlling VM, a ticket that a host was allocated for, and the host's word for its VM. */
final class World implements Giver {
    static final String TICKET = BootWorld.TICKET;
    static final String VM = "tq4bcfcxfokh6sbolidgqd2f3i";
    static final int SLOT = 0;
    static final Digest IMAGE = Digest.sha384("image");
    static final Duration LEASE = Duration.ofMinutes(1);

    private static final Shape SHAPE = new Shape(2, 2048, 0);
    private static final Network NETWORK = Network.parse("10.64.12.0/22");
    /** Of P-384 up to the point. */
    private static final int SPKI_HEAD = 23;

    final Secrets secrets = Secrets.open(Secrets.Locking.RUN_WITHOUT_LOCKED_MEMORY);
    final Hpke hpke = new Hpke(Crypto.load(secrets));
    final SecretMemory mungeKey = secrets.random(128);
    /** Of the one that was opened anew. */
    final SecretMemory newKey = secrets.random(128);

    final ProjectHistory project;
    final Name worker;
    final Name controller;
    final Credential controllers;
    /** Of the same name, after another opener has opened it anew. */
    final Opened reopened;

    final SigningKey hostKey = SigningKey.of(BootWorld.pair(Curve.P256));
    final Ticket ticket;
    final Policy policy;
    final byte[] revocations;
    /** The one after it: who certified the controlling VM is nobody any more. */
    final byte[] revocation;
    /** How often something was handed over. */
    final AtomicInteger gives = new AtomicInteger();
    /** What becomes of what is handed over, on its way. */
    volatile UnaryOperator<HandOver> way = handOver -> handOver;

    private final SecureRandom random = new SecureRandom();
    private final Authority authority;
    private final byte[] above;
    private final byte[] own;
    private final Issuer issuer;

    World(Path folder) throws IOException, GeneralSecurityException {
        Instant now = Instant.now();
        BootWorld.Project made = BootWorld.project(2);
        project = made.history();
        worker = SlotName.of(TICKET, SLOT, project.id());
        controller = Opening.controller(BootWorld.DRIVE, project.id());
        Authority owner = Authority.ofProject(
                project.id(),
                SubjectKey.of(made.owner().verificationKey()),
                made.owner()::sign,
                now,
                Duration.ofDays(300),
                random);
        revocations = owner.revoke(List.of(), BigInteger.ONE, now, Duration.ofHours(24));
        SigningKey cat = SigningKey.of(BootWorld.pair(Curve.P384));
        above = owner.certifyPerson(
                "cat", Set.of(Role.OPENER), SubjectKey.of(cat.verificationKey()), now, Duration.ofDays(31));
        X509Certificate cats = (X509Certificate)
                CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(above));
        revocation = owner.revoke(
                List.of(new Authority.Revocation(cats.getSerialNumber(), now)),
                BigInteger.TWO,
                now,
                Duration.ofHours(24));
        KeyPair pair = BootWorld.pair(Curve.P384);
        SigningKey key = SigningKey.of(pair);
        own = Authority.load(above, cat::sign, random)
                .certifyController(controller.id(), SubjectKey.of(key.verificationKey()), now, Duration.ofDays(7));
        authority = Authority.load(own, key::sign, random);
        byte[] leaf = authority.issue(controller, SubjectKey.of(key.verificationKey()), now, Duration.ofHours(24));
        controllers = Credential.of(pair.getPrivate(), List.of(leaf, own, above));
        reopened = openedBy(owner, "eve", now);
        issuer = new Issuer("node17", hostKey, new StatementFolder(folder));
        ResourceRequest request =
                new ResourceRequest(1, OptionalInt.of(1), 1, OptionalInt.empty(), 1024, 0, false, 10, List.of());
        ticket = new Ticket(TICKET, project.id(), 1, 1, now, now.plusSeconds(600), request);
        policy = new Policy(
                project.id(),
                7,
                now.minusSeconds(3600),
                now.plusSeconds(90 * 86_400),
                AssuranceLevel.HOST_WORD,
                List.of(new AcceptedHost("node17", hostKey.verificationKey())),
                List.of(new AcceptedImage(IMAGE, Optional.empty())),
                SHAPE,
                SHAPE,
                Sharing.PROJECT,
                true,
                10,
                Set.of());
    }

    /** A boot of the controlling VM. */
    record Opened(Credential own, Authority authority, List<byte[]> above) {}

    /** Which of them is there. */
    volatile Optional<Opened> present = Optional.empty();

    volatile boolean welcome = true;
    /** Of workers' certificates. */
    volatile Duration life = Duration.ofHours(24);
    /** What becomes of a readmission, on its way. */
    volatile UnaryOperator<Readmission> wayBack = readmission -> readmission;

    Opened openedBy(Authority owner, String opener, Instant now) throws IOException, GeneralSecurityException {
        SigningKey person = SigningKey.of(BootWorld.pair(Curve.P384));
        byte[] theirs = owner.certifyPerson(
                opener, Set.of(Role.OPENER), SubjectKey.of(person.verificationKey()), now, Duration.ofDays(31));
        KeyPair pair = BootWorld.pair(Curve.P384);
        SigningKey key = SigningKey.of(pair);
        SubjectKey subject = SubjectKey.of(key.verificationKey());
        byte[] its = Authority.load(theirs, person::sign, random)
                .certifyController(controller.id(), subject, now, Duration.ofDays(7));
        Authority authority = Authority.load(its, key::sign, random);
        byte[] leaf = authority.issue(controller, subject, now, Duration.ofHours(24));
        return new Opened(
                Credential.of(pair.getPrivate(), List.of(leaf, its, theirs)), authority, List.of(its, theirs));
    }

    Allocation allocation() {
        Slot slot = new Slot(
                SLOT,
                "node17",
                new Name("node17", Role.HOST.toString(), Name.SITE),
                hostKey.verificationKey(),
                Address.parse("10.64.12.5"),
                2,
                2048);
        return new Allocation(
                new Name("r1", Role.RELAY.toString(), Name.SITE),
                project.id(),
                TICKET,
                Digest.sha256(ticket.payload()),
                1,
                Instant.now(),
                301,
                NETWORK,
                List.of(slot));
    }

    OfficeMessage.Update update() {
        return new OfficeMessage.Update(
                TICKET, TicketState.RUNNING, Optional.empty(), "", 1, ByteString.EMPTY, ByteString.EMPTY);
    }

    AssignmentMessage.Told told() {
        return new AssignmentMessage.Told(
                worker,
                TICKET,
                SLOT,
                controller,
                project.envelopes().stream().map(ByteString::copyFrom).toList());
    }

    /** As the host of the VM does: one statement a life. */
    EvidenceMessage.Answer vouch(Digest image, Claim claim) {
        VmFacts facts = new VmFacts(project.id(), VM, VmRole.WORKER, TICKET, SLOT, image, SHAPE, Sharing.PROJECT);
        try {
            return new EvidenceMessage.Vouched(issuer.issue(facts, claim, List.of(), Instant.now()));
        } catch (StatementRefused e) {
            return new EvidenceMessage.Refused(EvidenceMessage.Why.ANOTHER);
        } catch (IOException | GeneralSecurityException e) {
            return new EvidenceMessage.Refused(EvidenceMessage.Why.FAILED);
        }
    }

    @Override
    public HandOver give(Place place, Allocation allocation, Slot slot, Statement statement) throws IOException {
        gives.incrementAndGet();
        byte[] leaf =
                authority.issue(worker, SubjectKey.of(statement.claim().keys().signing()), Instant.now(), life);
        return way.apply(handOver(
                place,
                List.of(leaf, own, above),
                sealed(place, statement.claim().keys().sealing())));
    }

    byte[] sealed(Place place, VerificationKey to) throws IOException {
        return sealed(SealingContext.handOver(project.id(), place), to, mungeKey);
    }

    byte[] sealed(byte[] info, VerificationKey to, SecretMemory secret) throws IOException {
        byte[] spki = to.encoded();
        SealingPublicKey point = SealingPublicKey.of(Arrays.copyOfRange(spki, SPKI_HEAD, spki.length));
        return hpke.seal(point, info, new byte[0], secret);
    }

    byte[] certify(Name name, VerificationKey key) throws IOException {
        return authority.issue(name, SubjectKey.of(key), Instant.now(), Duration.ofHours(24));
    }

    HandOver handOver(Place place, List<byte[]> chain, byte[] sealed) {
        return new HandOver(
                place,
                chain.stream().map(ByteString::copyFrom).toList(),
                new SealedSecret(ByteString.copyFrom(sealed)),
                Instant.now(),
                new Station(NETWORK, Address.parse("10.64.12.5"), 1450, new Mac(ByteString.copyFrom(new byte[] {
                    0x52, 0x54, 10, 64, 12, 5
                }))),
                controller,
                new Job(
                        List.of(new org.cloister.protocol.handover.Node(place.slot(), Address.parse("10.64.12.5"))),
                        "local",
                        6817),
                new Accounts(List.of(new User("ann", 1001, 1000, new FolderPath("/home/ann"))), 1000, 1001),
                List.of(new Mount(new FolderPath("/homes"), new FolderPath("/home"), false)),
                LEASE,
                Digest.sha384("policy"),
                allocation().digest());
    }

    List<byte[]> chain(byte[] leaf) {
        return List.of(leaf, own, above);
    }

    @Override
    public boolean isWelcome(Guest guest) {
        return welcome;
    }

    @Override
    public Readmission readmit(Guest guest, Nonce fresh, boolean key) throws IOException {
        Place place = new Place(guest.ticket(), guest.slot(), guest.vm(), fresh);
        Authority by = present.map(Opened::authority).orElse(authority);
        List<ByteString> chain = new ArrayList<>();
        chain.add(
                ByteString.copyFrom(by.issue(worker, SubjectKey.of(guest.keys().signing()), Instant.now(), life)));
        present.map(Opened::above).orElse(List.of(own, above)).forEach(each -> chain.add(ByteString.copyFrom(each)));
        return wayBack.apply(new Readmission(
                place,
                chain,
                key
                        ? Optional.of(new SealedSecret(ByteString.copyFrom(sealed(
                                SealingContext.readmission(project.id(), place),
                                guest.keys().sealing(),
                                newKey))))
                        : Optional.empty(),
                Instant.now(),
                LEASE,
                Digest.sha384("policy of later")));
    }

    @Override
    public void dismiss(String which) {}
}
