package org.cloister.vm.worker;

import com.google.protobuf.ByteString;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigInteger;
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
import org.cloister.base.encoding.Digest;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.key.LibCryptoCalls;
import org.cloister.luks.key.SealingPublicKey;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.evidence.AttestationClaims;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.evidence.EvidenceStatementSigner;
import org.cloister.protocol.evidence.IssuanceRefusedException;
import org.cloister.protocol.evidence.MemoryEvidenceStore;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.handover.FolderPath;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.HandoverTarget;
import org.cloister.protocol.handover.ReadmissionGrant;
import org.cloister.protocol.handover.SealedSecret;
import org.cloister.protocol.handover.SealingContext;
import org.cloister.protocol.handover.VmMacAddress;
import org.cloister.protocol.handover.VmNetworkConfig;
import org.cloister.protocol.handover.WorkerAccounts;
import org.cloister.protocol.handover.WorkerJob;
import org.cloister.protocol.handover.WorkerMount;
import org.cloister.protocol.handover.WorkerName;
import org.cloister.protocol.handover.WorkerUser;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.policy.AcceptedHost;
import org.cloister.protocol.policy.AcceptedImage;
import org.cloister.protocol.policy.AssuranceLevel;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.policy.VmShape;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.ProjectAddress;
import org.cloister.protocol.ticket.ProjectSubnet;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.vm.controller.admission.AdmittedWorker;
import org.cloister.vm.controller.admission.Provisioner;

/** A project, its controlling VM, a ticket that a host was allocated for, and the host's word for its VM. */
final class WorkerFixture implements Provisioner {
    static final String TICKET = BootFixture.TICKET;
    static final String VM = "tq4bcfcxfokh6sbolidgqd2f3i";
    static final int SLOT = 0;
    static final Digest IMAGE = Digest.sha384("image");
    static final Duration LEASE = Duration.ofMinutes(1);

    private static final VmShape SHAPE = new VmShape(2, 2048, 0);
    private static final ProjectSubnet NETWORK = ProjectSubnet.parse("10.64.12.0/22");
    /** Of P-384 up to the point. */
    private static final int SPKI_HEAD = 23;

    final SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.RUN_WITHOUT_LOCKED_MEMORY);
    final Hpke hpke = new Hpke(LibCryptoCalls.load(secrets));
    final SecretMemory mungeKey = secrets.random(128);
    /** Of the one that was opened anew. */
    final SecretMemory newKey = secrets.random(128);

    final ProjectHistory project;
    final CertificateName worker;
    final CertificateName controller;
    final TlsCredential controllers;
    /** Of the same name, after another opener has opened it anew. */
    final ControllerBoot reopened;

    final SigningKey hostKey;
    final Ticket ticket;
    final ProjectPolicy policy;
    final byte[] revocations;
    /** The one after it, which revokes nobody either. */
    final byte[] laterRevocations;
    /** Another one after it: who certified the controlling VM is nobody any more. */
    final byte[] revocation;
    /** How often something was handed over. */
    final AtomicInteger gives = new AtomicInteger();
    /** What becomes of what is handed over, on its way. */
    volatile UnaryOperator<HandoverDocument> way = handOver -> handOver;

    private final SecureRandom random = new SecureRandom();
    private final CertificateAuthority authority;
    private final byte[] above;
    private final byte[] own;
    private final EvidenceStatementSigner issuer;

    WorkerFixture() throws IOException, GeneralSecurityException {
        this(SigningKey.of(BootFixture.pair(SignatureCurve.P256)));
    }

    WorkerFixture(SigningKey hostKey) throws IOException, GeneralSecurityException {
        this.hostKey = hostKey;
        Instant now = Instant.now();
        BootFixture.Project made = BootFixture.project(2);
        project = made.history();
        worker = WorkerName.of(TICKET, SLOT, project.id());
        controller = Opening.controller(BootFixture.DRIVE, project.id());
        CertificateAuthority owner = CertificateAuthority.ofProject(
                project.id(),
                SubjectPublicKey.of(made.owner().verificationKey()),
                made.owner()::sign,
                now,
                Duration.ofDays(300),
                random);
        revocations = owner.revoke(List.of(), BigInteger.ONE, now, Duration.ofHours(24));
        laterRevocations = owner.revoke(List.of(), BigInteger.TWO, now, Duration.ofHours(24));
        SigningKey cat = SigningKey.of(BootFixture.pair(SignatureCurve.P384));
        above = owner.certifyPerson(
                "cat",
                Set.of(CertificateRole.OPENER),
                SubjectPublicKey.of(cat.verificationKey()),
                now,
                Duration.ofDays(31));
        X509Certificate cats = (X509Certificate)
                CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(above));
        revocation = owner.revoke(
                List.of(new CertificateAuthority.Revocation(cats.getSerialNumber(), now)),
                BigInteger.TWO,
                now,
                Duration.ofHours(24));
        KeyPair pair = BootFixture.pair(SignatureCurve.P384);
        SigningKey key = SigningKey.of(pair);
        own = CertificateAuthority.load(above, cat::sign, random)
                .certifyController(
                        controller.id(), SubjectPublicKey.of(key.verificationKey()), now, Duration.ofDays(7));
        authority = CertificateAuthority.load(own, key::sign, random);
        byte[] leaf =
                authority.issue(controller, SubjectPublicKey.of(key.verificationKey()), now, Duration.ofHours(24));
        controllers = TlsCredential.of(pair.getPrivate(), List.of(leaf, own, above));
        reopened = openedBy(owner, "eve", now);
        issuer = new EvidenceStatementSigner("node17", hostKey, new MemoryEvidenceStore());
        ResourceRequest request =
                new ResourceRequest(1, OptionalInt.of(1), 1, OptionalInt.empty(), 1024, 0, false, 10, List.of());
        ticket = new Ticket(TICKET, project.id(), 1, 1, now, now.plusSeconds(600), request);
        policy = new ProjectPolicy(
                project.id(),
                7,
                now.minusSeconds(3600),
                now.plusSeconds(90 * 86_400),
                AssuranceLevel.HOST_WORD,
                List.of(new AcceptedHost("node17", hostKey.verificationKey())),
                List.of(new AcceptedImage(IMAGE, Optional.empty())),
                SHAPE,
                SHAPE,
                HostSharing.PROJECT,
                true,
                10,
                Set.of());
    }

    /** A boot of the controlling VM. */
    record ControllerBoot(TlsCredential own, CertificateAuthority authority, List<byte[]> above) {}

    /** Which of them is there. */
    volatile Optional<ControllerBoot> present = Optional.empty();

    volatile boolean welcome = true;
    /** Of workers' certificates. */
    volatile Duration lifetime = Duration.ofHours(24);
    /** What becomes of a readmission, on its way. */
    volatile UnaryOperator<ReadmissionGrant> wayBack = readmission -> readmission;

    ControllerBoot openedBy(CertificateAuthority owner, String opener, Instant now)
            throws IOException, GeneralSecurityException {
        SigningKey person = SigningKey.of(BootFixture.pair(SignatureCurve.P384));
        byte[] theirs = owner.certifyPerson(
                opener,
                Set.of(CertificateRole.OPENER),
                SubjectPublicKey.of(person.verificationKey()),
                now,
                Duration.ofDays(31));
        KeyPair pair = BootFixture.pair(SignatureCurve.P384);
        SigningKey key = SigningKey.of(pair);
        SubjectPublicKey subject = SubjectPublicKey.of(key.verificationKey());
        byte[] its = CertificateAuthority.load(theirs, person::sign, random)
                .certifyController(controller.id(), subject, now, Duration.ofDays(7));
        CertificateAuthority authority = CertificateAuthority.load(its, key::sign, random);
        byte[] leaf = authority.issue(controller, subject, now, Duration.ofHours(24));
        return new ControllerBoot(
                TlsCredential.of(pair.getPrivate(), List.of(leaf, its, theirs)), authority, List.of(its, theirs));
    }

    Allocation allocation() {
        AllocatedSlot slot = new AllocatedSlot(
                SLOT,
                "node17",
                new CertificateName("node17", CertificateRole.HOST.toString(), CertificateName.SITE),
                hostKey.verificationKey(),
                ProjectAddress.parse("10.64.12.5"),
                2,
                2048);
        return new Allocation(
                new CertificateName("r1", CertificateRole.RELAY.toString(), CertificateName.SITE),
                project.id(),
                TICKET,
                Digest.sha256(ticket.payload()),
                1,
                Instant.now(),
                301,
                NETWORK,
                List.of(slot));
    }

    RelayTicketMessage.Update update() {
        return new RelayTicketMessage.Update(
                TICKET, TicketState.RUNNING, Optional.empty(), "", 1, ByteString.EMPTY, ByteString.EMPTY);
    }

    AssignmentMessage.Assigned told() {
        return new AssignmentMessage.Assigned(
                worker,
                TICKET,
                SLOT,
                controller,
                project.envelopes().stream().map(ByteString::copyFrom).toList());
    }

    /** As the host of the VM does: one statement a life. */
    EvidenceMessage.Response vouch(Digest image, AttestationClaims claim) {
        VmFacts facts = new VmFacts(project.id(), VM, VmRole.WORKER, TICKET, SLOT, image, SHAPE, HostSharing.PROJECT);
        try {
            return new EvidenceMessage.Granted(issuer.issue(facts, claim, List.of(), Instant.now()));
        } catch (IssuanceRefusedException e) {
            return new EvidenceMessage.Refused(EvidenceMessage.RefusalReason.ANOTHER);
        } catch (IOException | GeneralSecurityException e) {
            return new EvidenceMessage.Refused(EvidenceMessage.RefusalReason.FAILED);
        }
    }

    @Override
    public HandoverDocument createHandover(
            HandoverTarget place, Allocation allocation, AllocatedSlot slot, EvidenceStatement statement)
            throws IOException {
        gives.incrementAndGet();
        byte[] leaf = authority.issue(
                worker, SubjectPublicKey.of(statement.claim().keys().signing()), Instant.now(), lifetime);
        return way.apply(handOver(
                place,
                List.of(leaf, own, above),
                sealed(place, statement.claim().keys().sealing())));
    }

    byte[] sealed(HandoverTarget place, VerificationKey to) throws IOException {
        return sealed(SealingContext.handOver(project.id(), place), to, mungeKey);
    }

    byte[] sealed(byte[] info, VerificationKey to, SecretMemory secret) throws IOException {
        byte[] spki = to.encoded();
        SealingPublicKey point = SealingPublicKey.of(Arrays.copyOfRange(spki, SPKI_HEAD, spki.length));
        return hpke.seal(point, info, new byte[0], secret);
    }

    byte[] certify(CertificateName name, VerificationKey key) throws IOException {
        return authority.issue(name, SubjectPublicKey.of(key), Instant.now(), Duration.ofHours(24));
    }

    HandoverDocument handOver(HandoverTarget place, List<byte[]> chain, byte[] sealed) {
        return new HandoverDocument(
                place,
                chain.stream().map(ByteString::copyFrom).toList(),
                new SealedSecret(ByteString.copyFrom(sealed)),
                Instant.now(),
                new VmNetworkConfig(
                        NETWORK,
                        ProjectAddress.parse("10.64.12.5"),
                        1450,
                        new VmMacAddress(ByteString.copyFrom(new byte[] {0x52, 0x54, 10, 64, 12, 5}))),
                controller,
                new WorkerJob(
                        List.of(new org.cloister.protocol.handover.JobNode(
                                place.slot(), ProjectAddress.parse("10.64.12.5"))),
                        "local",
                        6817),
                new WorkerAccounts(List.of(new WorkerUser("ann", 1001, 1000, new FolderPath("/home/ann"))), 1000, 1001),
                List.of(new WorkerMount(new FolderPath("/homes"), new FolderPath("/home"), false)),
                LEASE,
                Digest.sha384("policy"),
                allocation().digest());
    }

    List<byte[]> chain(byte[] leaf) {
        return List.of(leaf, own, above);
    }

    @Override
    public void grantAccess(List<AdmittedWorker> workers) {}

    @Override
    public boolean isUserAllowed(AdmittedWorker admitted) {
        return welcome;
    }

    @Override
    public ReadmissionGrant createReadmission(AdmittedWorker admitted, Nonce fresh, boolean key) throws IOException {
        HandoverTarget place = new HandoverTarget(admitted.ticket(), admitted.slot(), admitted.vm(), fresh);
        CertificateAuthority by = present.map(ControllerBoot::authority).orElse(authority);
        List<ByteString> chain = new ArrayList<>();
        chain.add(ByteString.copyFrom(
                by.issue(worker, SubjectPublicKey.of(admitted.keys().signing()), Instant.now(), lifetime)));
        present.map(ControllerBoot::above)
                .orElse(List.of(own, above))
                .forEach(each -> chain.add(ByteString.copyFrom(each)));
        return wayBack.apply(new ReadmissionGrant(
                place,
                chain,
                key
                        ? Optional.of(new SealedSecret(ByteString.copyFrom(sealed(
                                SealingContext.readmission(project.id(), place),
                                admitted.keys().sealing(),
                                newKey))))
                        : Optional.empty(),
                Instant.now(),
                LEASE,
                Digest.sha384("policy of later")));
    }

    @Override
    public void revokeAccess(String which) {}
}
