package org.cloister.protocol.receipt;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.audit.AuditHead;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.AttestationClaims;
import org.cloister.protocol.evidence.BootPublicKeys;
import org.cloister.protocol.evidence.CircuitBinding;
import org.cloister.protocol.evidence.EvidenceStatementSigner;
import org.cloister.protocol.evidence.MemoryEvidenceStore;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.handover.WorkerName;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.policy.VmShape;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.SignedTicketFixture;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketEnd;

/** A ticket's whole life: controlling VM, relay, hosts and workers each sign with a key of their own what is theirs to say. */
public final class ReceiptFixture {
    public static final Instant NOW = SignedTicketFixture.NOW;
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final String LOG = "h4x2mq7tq3b5zgk6d2nvp7yaou";

    public final SignedTicketFixture world;
    public final Ticket ticket;
    public final Allocation allocation;
    public final List<Machine> machines = new ArrayList<>();

    private final CertificateAuthority workers;

    /** Signed statements of one host and its worker VM. */
    public final class Machine {
        public final int slot;
        public final SignedTicketFixture.Signer host;
        public final SigningKey boot = SignedTicketFixture.key(SignatureCurve.P384);
        final Nonce nonce = Nonce.random(RANDOM);
        final VmFacts facts;
        public byte[] evidence;
        public HandoverRecord handOver;

        private Machine(int slot) throws IOException, GeneralSecurityException {
            this.slot = slot;
            this.host = world.hosts.get(slot);
            facts = new VmFacts(
                    ticket.project(),
                    Ticket.newId(RANDOM),
                    VmRole.WORKER,
                    ticket.id(),
                    slot,
                    Digest.sha384("image"),
                    new VmShape(12, 8000, 1024),
                    HostSharing.NONE);
            AttestationClaims claim = new AttestationClaims(
                    new BootPublicKeys(
                            boot.verificationKey(),
                            SignedTicketFixture.key(SignatureCurve.P384).verificationKey()),
                    nonce,
                    CircuitBinding.of(new byte[1], new byte[2]));
            evidence = new EvidenceStatementSigner(host.name().id(), host.key(), new MemoryEvidenceStore())
                    .issue(facts, claim, List.of(), at(60))
                    .bytes();
            handOver = HandoverRecord.of(at(61), workerChain(boot, slot), nonce);
        }

        public HostStatement part() {
            return new HostStatement(
                    facts,
                    Digest.sha256(ticket.payload()),
                    allocation.globalJob(),
                    at(50),
                    at(3702),
                    VmEndReason.POWERED_OFF,
                    Optional.of(ScratchDisposal.DISCARDED),
                    Optional.of(at(3703)));
        }

        public WorkerStatement worker() {
            return new WorkerStatement(
                    ticket.project(),
                    ticket.id(),
                    Digest.sha256(ticket.payload()),
                    slot,
                    facts.vm(),
                    Optional.of(at(65)),
                    at(3700),
                    Optional.of(at(3701)));
        }

        ReceiptSlot whole() throws GeneralSecurityException {
            return ReceiptSlot.empty(slot)
                    .withHost(host.chain())
                    .withHostStatement(part().sign(host.key()).bytes())
                    .withEvidence(evidence)
                    .withHandOver(handOver)
                    .withWorkerStatement(worker().sign(boot).bytes());
        }
    }

    /** A host's record of what it signed, while the test lasts. */
    public ReceiptFixture(int nodes) throws IOException, GeneralSecurityException {
        this(new SignedTicketFixture(), nodes);
    }

    ReceiptFixture(SignedTicketFixture world, int nodes) throws IOException, GeneralSecurityException {
        this.world = world;
        ticket = world.ticket(new ResourceRequest(
                nodes, OptionalInt.empty(), 12, OptionalInt.empty(), 8192, 1024, false, 60, List.of()));
        allocation = world.allocation(ticket, world.slots().subList(0, nodes));
        SigningKey ca = SignedTicketFixture.key(SignatureCurve.P384);
        byte[] delegated = world.owner.certifyController(
                "c1", SubjectPublicKey.of(ca.verificationKey()), NOW, SignedTicketFixture.DAY);
        workers = CertificateAuthority.load(delegated, ca::sign, RANDOM);
        for (int slot = 0; slot < nodes; slot++) {
            machines.add(new Machine(slot));
        }
    }

    public static Instant at(int seconds) {
        return NOW.plusSeconds(seconds);
    }

    List<byte[]> workerChain(SigningKey boot, int slot) throws IOException {
        return workerChain(boot, WorkerName.of(ticket.id(), slot, ticket.project()));
    }

    /** What the project's authority certifies for a worker of this name. */
    List<byte[]> workerChain(SigningKey boot, CertificateName name) throws IOException {
        byte[] leaf = workers.issue(
                name, SubjectPublicKey.of(boot.verificationKey()), NOW, SignedTicketFixture.DAY.minusHours(1));
        return List.of(leaf, workers.certificate());
    }

    /** The newest head of the relay's log when the ticket had ended. */
    AuditHead head() {
        return new AuditHead(
                world.relay.name().toString(), LOG, 4711, Digest.sha256("chain".getBytes(UTF_8)), at(3706));
    }

    public Receipt completed() throws GeneralSecurityException {
        List<ReceiptSlot> slots = new ArrayList<>();
        for (Machine each : machines) {
            slots.add(each.whole());
        }
        return receipt(TicketEnd.COMPLETED, true, slots);
    }

    /** One that had nothing. */
    public Receipt refused() throws GeneralSecurityException {
        return receipt(TicketEnd.REFUSED, false, List.of());
    }

    Receipt receipt(TicketEnd end, boolean nodes, List<ReceiptSlot> slots) throws GeneralSecurityException {
        return new Receipt(
                ticket.project(),
                ticket.id(),
                Digest.sha256(ticket.payload()),
                ReceiptBytes.of(ticket.sign(world.controller.key()).bytes()),
                List.of(),
                ReceiptBytes.all(world.controller.chain()),
                ReceiptBytes.all(world.relay.chain()),
                nodes ? Optional.of(allocation.globalJob()) : Optional.empty(),
                nodes
                        ? Optional.of(ReceiptBytes.of(
                                allocation.sign(world.relay.key()).bytes()))
                        : Optional.empty(),
                slots,
                slots.isEmpty() ? Optional.empty() : Optional.of(Digest.sha384("policy")),
                end,
                at(3705),
                at(3710),
                ReceiptBytes.of(head().sign(world.relay.key()).envelope().bytes()),
                ReceiptBytes.all(world.project.envelopes()));
    }

    public byte[] sign(Receipt receipt) throws GeneralSecurityException {
        return receipt.sign(world.controller.key()).bytes();
    }

    ReceiptVerification verify(Receipt receipt) throws IOException, GeneralSecurityException {
        return verify(sign(receipt));
    }

    public ReceiptVerification verify(byte[] envelope) throws IOException {
        return ReceiptVerifier.verify(envelope, Optional.of(world.project), List.of(world.siteKey.verificationKey()));
    }

    static Receipt changed(Receipt of, ReceiptBytes request, Optional<ReceiptBytes> allocation, ReceiptBytes audit) {
        return new Receipt(
                of.project(),
                of.ticket(),
                of.digest(),
                request,
                of.requester(),
                of.controller(),
                of.relay(),
                of.globalJob(),
                allocation,
                of.slots(),
                of.policy(),
                of.end(),
                of.ended(),
                of.issued(),
                audit,
                of.documents());
    }
}
