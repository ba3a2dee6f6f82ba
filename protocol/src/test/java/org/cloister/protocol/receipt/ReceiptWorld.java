package org.cloister.protocol.receipt;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.cloister.protocol.Digest;
import org.cloister.protocol.audit.AuditHead;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.BootKeys;
import org.cloister.protocol.evidence.CircuitBinding;
import org.cloister.protocol.evidence.Claim;
import org.cloister.protocol.evidence.Issuer;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.StatementRecord;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.handover.SlotName;
import org.cloister.protocol.identity.Authority;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.SubjectKey;
import org.cloister.protocol.policy.Shape;
import org.cloister.protocol.policy.Sharing;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketWorld;

/** A ticket's whole life: controlling VM, relay, hosts and workers each sign with a key of their own what is theirs to say. */
public final class ReceiptWorld {
    public static final Instant NOW = TicketWorld.NOW;
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final String LOG = "h4x2mq7tq3b5zgk6d2nvp7yaou";

    public final TicketWorld world;
    public final Ticket ticket;
    public final Allocation allocation;
    public final List<Machine> machines = new ArrayList<>();

    private final Authority workers;

    /** What one host and its worker VM say and sign. */
    public final class Machine {
        public final int slot;
        public final TicketWorld.Party host;
        public final SigningKey boot = TicketWorld.key(Curve.P384);
        final Nonce nonce = Nonce.random(RANDOM);
        final VmFacts facts;
        public byte[] evidence;
        public HandOver handOver;

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
                    new Shape(12, 8000, 1024),
                    Sharing.NONE);
            Claim claim = new Claim(
                    new BootKeys(
                            boot.verificationKey(), TicketWorld.key(Curve.P384).verificationKey()),
                    nonce,
                    CircuitBinding.of(new byte[1], new byte[2]));
            evidence = new Issuer(host.name().id(), host.key(), new Recorded())
                    .issue(facts, claim, List.of(), at(60))
                    .bytes();
            handOver = HandOver.of(at(61), workerChain(boot, slot), nonce);
        }

        public HostPart part() {
            return new HostPart(
                    facts,
                    Digest.sha256(ticket.payload()),
                    allocation.globalJob(),
                    at(50),
                    at(3702),
                    VmEnd.POWERED_OFF,
                    Optional.of(ScratchEnd.DISCARDED),
                    Optional.of(at(3703)));
        }

        public WorkerPart worker() {
            return new WorkerPart(
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
                    .withPart(part().sign(host.key()).bytes())
                    .withEvidence(evidence)
                    .withHandOver(handOver)
                    .withWorker(worker().sign(boot).bytes());
        }
    }

    /** A host's record of what it signed, while the test lasts. */
    private static final class Recorded implements StatementRecord {
        private final Map<String, byte[]> kept = new HashMap<>();

        @Override
        public Optional<byte[]> find(String vm) {
            return Optional.ofNullable(kept.get(vm));
        }

        @Override
        public void keep(String vm, byte[] payload) {
            kept.put(vm, payload);
        }
    }

    public ReceiptWorld(int nodes) throws IOException, GeneralSecurityException {
        this(new TicketWorld(), nodes);
    }

    ReceiptWorld(TicketWorld world, int nodes) throws IOException, GeneralSecurityException {
        this.world = world;
        ticket = world.ticket(new ResourceRequest(
                nodes, OptionalInt.empty(), 12, OptionalInt.empty(), 8192, 1024, false, 60, List.of()));
        allocation = world.allocation(ticket, world.slots().subList(0, nodes));
        SigningKey ca = TicketWorld.key(Curve.P384);
        byte[] delegated =
                world.owner.certifyController("c1", SubjectKey.of(ca.verificationKey()), NOW, TicketWorld.DAY);
        workers = Authority.load(delegated, ca::sign, RANDOM);
        for (int slot = 0; slot < nodes; slot++) {
            machines.add(new Machine(slot));
        }
    }

    public static Instant at(int seconds) {
        return NOW.plusSeconds(seconds);
    }

    List<byte[]> workerChain(SigningKey boot, int slot) throws IOException {
        return workerChain(boot, SlotName.of(ticket.id(), slot, ticket.project()));
    }

    /** What the project's authority certifies for a worker of this name. */
    List<byte[]> workerChain(SigningKey boot, Name name) throws IOException {
        byte[] leaf = workers.issue(name, SubjectKey.of(boot.verificationKey()), NOW, TicketWorld.DAY.minusHours(1));
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
                Binary.of(ticket.sign(world.controller.key()).bytes()),
                List.of(),
                Binary.all(world.controller.chain()),
                Binary.all(world.relay.chain()),
                nodes ? Optional.of(allocation.globalJob()) : Optional.empty(),
                nodes ? Optional.of(Binary.of(allocation.sign(world.relay.key()).bytes())) : Optional.empty(),
                slots,
                slots.isEmpty() ? Optional.empty() : Optional.of(Digest.sha384("policy")),
                end,
                at(3705),
                at(3710),
                Binary.of(head().sign(world.relay.key()).envelope().bytes()),
                Binary.all(world.project.envelopes()));
    }

    public byte[] sign(Receipt receipt) throws GeneralSecurityException {
        return receipt.sign(world.controller.key()).bytes();
    }

    Verification verify(Receipt receipt) throws IOException, GeneralSecurityException {
        return verify(sign(receipt));
    }

    public Verification verify(byte[] envelope) throws IOException {
        return ReceiptVerifier.verify(envelope, Optional.of(world.project), List.of(world.siteKey.verificationKey()));
    }

    static Receipt changed(Receipt of, Binary request, Optional<Binary> allocation, Binary audit) {
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
