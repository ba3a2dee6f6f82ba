package org.cloister.vm.handover;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.netty.channel.ChannelHandler;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.Digest;
import org.cloister.protocol.circuit.Circuit;
import org.cloister.protocol.circuit.CircuitPair;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.CircuitBinding;
import org.cloister.protocol.evidence.Claim;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.Statement;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.handover.BootWorld;
import org.cloister.protocol.handover.FolderPath;
import org.cloister.protocol.handover.HandOver;
import org.cloister.protocol.handover.Mac;
import org.cloister.protocol.handover.Mount;
import org.cloister.protocol.handover.SlotName;
import org.cloister.protocol.handover.Station;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.BootCertificate;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.identity.Signer;
import org.cloister.protocol.identity.SubjectKey;
import org.cloister.protocol.link.BootTrust;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.Trust;
import org.cloister.protocol.policy.Policy;
import org.cloister.protocol.policy.Shape;
import org.cloister.protocol.policy.Sharing;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.ticket.Address;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.vm.Strangers;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.boot.Listener;
import org.cloister.vm.opening.OpeningWorld;
import org.cloister.vm.opening.Unlocked;
import org.cloister.vm.provision.Provisioner;
import org.cloister.vm.users.Member;
import org.cloister.vm.users.Members;
import org.cloister.vm.worker.WorkerEvent;

/** A desk with a ticket of two slots, workers that call it in circuits whose both ends are real, and what each is given. */
@SuppressWarnings("FutureReturnValueIgnored") // what is not said is not answered
final class DeskWorld implements AutoCloseable {
    static final int SLOT = 1;
    static final Member ANN = new Member("ann", 1001, 1000);
    private static final Member BEN = new Member("ben", 1002, 1000);

    final OpeningWorld opening = new OpeningWorld();
    private final Unlocked unlocked = opening.unlocked();
    final Beliefs beliefs = opening.beliefs();
    private final CircuitPair circuits = new CircuitPair();
    private final ExecutorService decisions = Executors.newSingleThreadExecutor();
    final List<WorkerEvent> news = new CopyOnWriteArrayList<>();
    final AtomicLong strangers = new AtomicLong();
    final Recorded access = new Recorded();
    final Told lives = new Told();
    final SecretMemory munge = opening.secrets.random(128);
    final String project = opening.made.history().id();
    private final DeskTicket ticket = new DeskTicket(project, opening.host);
    final Name worker = SlotName.of(BootWorld.TICKET, SLOT, project);
    private final Credential own = Credential.of(
            opening.keys.signing(),
            unlocked.authority()
                    .certify(opening.controller, opening.keys.shown().signing(), OpeningWorld.NOW));

    final Path folder;
    /** Of this boot. */
    HandOverDesk desk;

    volatile List<Member> members = List.of(ANN, BEN);
    volatile Policy policy = opening.policy();
    volatile boolean revoked;
    volatile boolean takenBack;
    volatile Instant now = OpeningWorld.NOW;
    volatile int address = 5;

    DeskWorld(Path folder) throws Exception {
        this.folder = folder;
        desk = desk();
        settle(() -> assertThat(desk.expect(ticket.ticket, DeskTicket.update())).isEqualTo(2));
    }

    private HandOverDesk.Terms terms() {
        return new HandOverDesk.Terms(
                () -> own,
                beliefs,
                envelope -> allocation(),
                policy,
                new HandOverDesk.Hosts(key -> revoked, key -> takenBack && key.equals(opening.host.verificationKey())),
                false);
    }

    private HandOverDesk desk() throws IOException {
        return new HandOverDesk(
                terms(),
                new HandOverDesk.Books(
                        SpentBook.open(folder.resolve("spent")), GuestBook.open(folder.resolve("guests"))),
                provisioner(),
                lives,
                decisions,
                () -> now,
                new HandOverDesk.Reports(news::add, strangers::incrementAndGet));
    }

    /** The next boot, with what the drive has, that has heard of its tickets. */
    void reopen() throws Exception {
        desk.close();
        access.said.clear();
        news.clear();
        desk = desk();
        settle(() -> desk.expect(ticket.ticket, DeskTicket.update()));
    }

    @Override
    public void close() {
        desk.close();
        circuits.close();
        decisions.shutdownNow();
        munge.close();
        opening.keys.close();
    }

    private Provisioner provisioner() {
        byte[] mac = {0x52, 0x54, 10, 64, 12, 1};
        return new Provisioner(
                new Provisioner.Terms(
                        opening.controller,
                        unlocked.authority(),
                        unlocked.papers().hash(),
                        new Station(
                                OpeningWorld.NETWORK,
                                Address.parse("10.64.12.1"),
                                1450,
                                new Mac(ByteString.copyFrom(mac))),
                        "local",
                        6817,
                        "/project/home",
                        List.of(new Mount(new FolderPath("/home"), new FolderPath("/project/home"), false)),
                        Duration.ofHours(8)),
                access,
                id -> id.equals(BootWorld.TICKET) ? OptionalInt.of(BEN.uid()) : OptionalInt.empty(),
                () -> new Members(members),
                new Provisioner.Sealing(new Hpke(opening.crypto), munge),
                () -> now);
    }

    private Allocation allocation() {
        return ticket.allocation(address);
    }

    /** The slot that the tests' workers are for. */
    Expected.Place place() {
        Allocation allocation = allocation();
        return new Expected.Place(allocation, allocation.slots().get(SLOT));
    }

    /** Says nothing but questions. */
    Arriving arriving() throws IOException {
        HandOverDesk.Terms terms = terms();
        SpentBook spent = SpentBook.open(folder.resolve("arriving"));
        Provisioner giver = provisioner();
        return new Arriving(
                terms,
                spent,
                giver,
                new Returning(GuestBook.open(folder.resolve("arriving")), terms, giver),
                lives,
                new Strangers(strangers::incrementAndGet));
    }

    interface Condition {
        boolean holds() throws Exception;
    }

    /** On the desk's thread, in the end. */
    void awaits(Condition condition) throws Exception {
        for (int i = 0; i < 1000 && !decisions.submit(condition::holds).get(20, TimeUnit.SECONDS); i++) {
            Thread.sleep(10);
        }
        settle(() -> assertThat(condition.holds()).isTrue());
    }

    /** The slot's worker, of which nobody is to come any more, in the end. */
    void isGone(String code) throws Exception {
        for (int i = 0; i < 1000 && news.stream().noneMatch(WorkerEvent.NodeGone.class::isInstance); i++) {
            Thread.sleep(10);
        }
        settle(() -> assertThat(news)
                .filteredOn(WorkerEvent.NodeGone.class::isInstance)
                .extracting(event -> ((WorkerEvent.NodeGone) event).trouble().code())
                .containsExactly(code));
    }

    /** What receipts were told, in the end. */
    void isTold(String... said) throws Exception {
        for (int i = 0; i < 400 && lives.said.size() < said.length; i++) {
            Thread.sleep(10);
        }
        assertThat(lives.said).containsExactly(said);
    }

    /** The slot's worker says that it is back. */
    static VmMessage.Resume resume() {
        return new VmMessage.Resume(BootWorld.TICKET, SLOT, OpeningWorld.VM, Nonce.random(new SecureRandom()));
    }

    interface Step {
        void run() throws Exception;
    }

    void settle(Step step) throws Exception {
        decisions
                .submit(() -> {
                    step.run();
                    return true;
                })
                .get(20, TimeUnit.SECONDS);
    }

    /** A VM of the slot, with keys of its own boot. */
    final class Vm {
        final BootKeyPairs keys = BootKeyPairs.make(opening.secrets, new SecureRandom());
        final Credential boot = Credential.of(
                keys.signing(),
                List.of(BootCertificate.make(
                        worker,
                        SubjectKey.of(keys.shown().signing()),
                        Signer.of(keys.signing()),
                        OpeningWorld.NOW,
                        new SecureRandom())));

        Vm() throws IOException {}

        Talk calls() throws Exception {
            return new Talk(this, boot);
        }

        Talk callsWith(HandOver given) throws Exception {
            return callsWith(given.certificates());
        }

        Talk callsWith(List<ByteString> certificates) throws Exception {
            return new Talk(
                    this,
                    Credential.of(
                            keys.signing(),
                            certificates.stream().map(ByteString::toByteArray).toList()));
        }

        /** As an authority of the project would for whoever has its key. */
        Talk callsCertified() throws Exception {
            return new Talk(
                    this,
                    Credential.of(
                            keys.signing(),
                            unlocked.authority().certify(worker, keys.shown().signing(), OpeningWorld.NOW)));
        }
    }

    /** The VM's end of one circuit. */
    final class Talk {
        final Listener<VerifierMessage> listener = new Listener<>(VerifierMessage.class);
        final Vm vm;
        final Credential shown;
        final Circuit circuit;

        Talk(Vm vm, Credential shown) throws Exception {
            this(vm, shown, (pipeline, end) -> desk.install(pipeline, end, own));
        }

        /** With something else than the desk at the other end. */
        Talk(Vm vm, Credential shown, Function<Circuit, ChannelHandler> desks) throws Exception {
            this(
                    vm,
                    shown,
                    (pipeline, end) -> pipeline.addLast(
                            new Framing(LinkLimits.FROM_BOOTING_BYTES, VmMessage::read), desks.apply(end)));
        }

        private Talk(Vm vm, Credential shown, Circuit.Application desks) throws Exception {
            this.vm = vm;
            this.shown = shown;
            this.circuit = circuits.open(
                            new CircuitTerms(worker, opening.controller, Digest.sha384("policy")),
                            new CircuitPair.End(
                                    shown,
                                    Trust.in(beliefs, Set.of(Role.CONTROLLER)).only(opening.controller),
                                    (pipeline, end) -> pipeline.addLast(
                                            new Framing(LinkLimits.HAND_OVER_BYTES, VerifierMessage::read), listener)),
                            new CircuitPair.End(
                                    own,
                                    BootTrust.bootingOr(Trust.in(beliefs, Set.of(Role.WORKER)))
                                            .only(worker),
                                    desks))
                    .opener();
        }

        void ends() throws InterruptedException {
            assertThat(circuit.channel().closeFuture().await(20, TimeUnit.SECONDS))
                    .as("the circuit ends within 20 s")
                    .isTrue();
        }

        void say(VmMessage message) {
            circuit.channel().writeAndFlush(Framing.frame(message.wire()));
        }

        VerifierMessage hears() throws InterruptedException {
            return listener.hears();
        }

        Nonce asked() throws InterruptedException {
            return ((VerifierMessage.Question) hears()).nonce();
        }

        void shows(Nonce nonce, UnaryOperator<Statement> change, SigningKey signer) throws Exception {
            CircuitBinding binding = CircuitBinding.of(
                    own.chain().get(0).getEncoded(), shown.chain().get(0).getEncoded());
            Statement statement = change.apply(new Statement(
                    "node1",
                    new VmFacts(
                            project,
                            OpeningWorld.VM,
                            VmRole.WORKER,
                            BootWorld.TICKET,
                            SLOT,
                            OpeningWorld.IMAGE,
                            new Shape(4, 4096, 0),
                            Sharing.NONE),
                    new Claim(vm.keys.shown(), nonce, binding),
                    OpeningWorld.NOW,
                    List.of()));
            Envelope envelope = Envelope.sign(Statement.TYPE, statement.json(), signer);
            say(new VmMessage.Shown(ByteString.copyFrom(envelope.bytes()), OpeningWorld.NOW));
        }

        HandOver isGiven() throws Exception {
            shows(asked(), UnaryOperator.identity(), opening.host);
            return (HandOver) hears();
        }

        List<String> isDenied(UnaryOperator<Statement> change, SigningKey signer) throws Exception {
            shows(asked(), change, signer);
            return ((VerifierMessage.Denied) hears()).clauses();
        }
    }

    static Statement with(Statement statement, VmFacts facts) {
        return new Statement(statement.host(), facts, statement.claim(), statement.issued(), statement.attachments());
    }

    static Statement with(Statement statement, Claim claim) {
        return new Statement(statement.host(), statement.facts(), claim, statement.issued(), statement.attachments());
    }
}
