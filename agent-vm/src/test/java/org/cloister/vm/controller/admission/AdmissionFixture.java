package org.cloister.vm.controller.admission;

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
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.cloister.base.encoding.Digest;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.circuit.CircuitTerms;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.AttestationClaims;
import org.cloister.protocol.evidence.CircuitBinding;
import org.cloister.protocol.evidence.EvidenceStatement;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.handover.BootFixture;
import org.cloister.protocol.handover.FolderPath;
import org.cloister.protocol.handover.HandoverDocument;
import org.cloister.protocol.handover.VerifierMessage;
import org.cloister.protocol.handover.VmMacAddress;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.handover.VmNetworkConfig;
import org.cloister.protocol.handover.WorkerMount;
import org.cloister.protocol.handover.WorkerName;
import org.cloister.protocol.identity.BootCertificate;
import org.cloister.protocol.identity.BootPeerVerifier;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertificateSigner;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.policy.VmShape;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.ProjectAddress;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.circuit.CircuitPair;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.boot.CircuitMessageRecorder;
import org.cloister.vm.boot.UnauthenticatedPeerCounter;
import org.cloister.vm.controller.provision.WorkerProvisioner;
import org.cloister.vm.controller.tickets.WorkerEvent;
import org.cloister.vm.controller.unlock.ControllerUnlockFixture;
import org.cloister.vm.controller.unlock.VerifiedUnlock;
import org.cloister.vm.system.users.ProjectMember;
import org.cloister.vm.system.users.ProjectMembers;

/** An admission with a ticket of two slots, workers that call it in circuits whose both ends are real, and what each is given. */
@SuppressWarnings("FutureReturnValueIgnored") // what is not said is not answered
final class AdmissionFixture implements AutoCloseable {
    static final int SLOT = 1;
    static final ProjectMember ANN = new ProjectMember("ann", 1001, 1000);
    private static final ProjectMember BEN = new ProjectMember("ben", 1002, 1000);

    final ControllerUnlockFixture opening = new ControllerUnlockFixture();
    private final VerifiedUnlock unlocked = opening.unlocked();
    final TrustStore trustStore = opening.createTrustStore();
    private final CircuitPair circuits = new CircuitPair();
    private final ExecutorService decisions = Executors.newSingleThreadExecutor();
    /** Carries out what blocks. */
    volatile Executor provisioning = decisions;

    final List<WorkerEvent> events = new CopyOnWriteArrayList<>();
    final CountedAdmissionMetrics counts = new CountedAdmissionMetrics();
    final RecordingWorkerAccess access = new RecordingWorkerAccess();
    final RecordingHandoverRecorder recorder = new RecordingHandoverRecorder();
    final SecretMemory munge = opening.secrets.random(128);
    final String project = opening.made.history().id();
    final AdmissionTicketFixture ticket = new AdmissionTicketFixture(project, opening.host);
    final CertificateName worker = WorkerName.of(BootFixture.TICKET, SLOT, project);
    private final TlsCredential own = TlsCredential.of(
            opening.keys.signing(),
            unlocked.authority()
                    .issue(opening.controller, opening.keys.publicKeys().signing(), ControllerUnlockFixture.NOW));

    final Path folder;
    /** Of this boot. */
    WorkerAdmission admission;

    volatile List<ProjectMember> members = List.of(ANN, BEN);
    volatile ProjectPolicy policy = opening.policy();
    volatile boolean revoked;
    volatile boolean takenBack;
    volatile Instant now = ControllerUnlockFixture.NOW;
    volatile int address = 5;

    AdmissionFixture(Path folder) throws Exception {
        this.folder = folder;
        admission = createAdmission();
        settle(() -> {
            admission.start(events::add);
            assertThat(admission.expectWorkers(ticket.ticket, AdmissionTicketFixture.update()))
                    .isEqualTo(2);
        });
    }

    private AdmissionContext context() {
        return new AdmissionContext(
                () -> own,
                trustStore,
                envelope -> ticket.verifiedAllocation(address),
                policy,
                new AdmissionContext.HostTrust(
                        key -> revoked, key -> takenBack && key.equals(opening.host.verificationKey())),
                false);
    }

    private WorkerAdmission createAdmission() throws IOException {
        return new WorkerAdmission(
                context(),
                new WorkerAdmission.Stores(
                        HandoverLedger.open(folder.resolve("spent")), AdmittedWorkers.open(folder.resolve("guests"))),
                provisioner(),
                recorder,
                new WorkerAdmission.Threads(decisions, task -> provisioning.execute(task)),
                () -> now,
                counts);
    }

    /** The next boot, with what the drive has, that has heard of its tickets. */
    void reopen() throws Exception {
        admission.close();
        access.recorded.clear();
        events.clear();
        admission = createAdmission();
        settle(() -> {
            admission.start(events::add);
            admission.expectWorkers(ticket.ticket, AdmissionTicketFixture.update());
        });
    }

    @Override
    public void close() {
        admission.close();
        circuits.close();
        decisions.shutdownNow();
        munge.close();
        opening.keys.close();
    }

    WorkerProvisioner provisioner() {
        byte[] mac = {0x52, 0x54, 10, 64, 12, 1};
        return new WorkerProvisioner(
                new WorkerProvisioner.Settings(
                        opening.controller,
                        unlocked.authority(),
                        unlocked.documents().policyHash(),
                        new VmNetworkConfig(
                                ControllerUnlockFixture.NETWORK,
                                ProjectAddress.parse("10.64.12.1"),
                                1450,
                                new VmMacAddress(ByteString.copyFrom(mac))),
                        "local",
                        6817,
                        "/project/home",
                        List.of(new WorkerMount(new FolderPath("/home"), new FolderPath("/project/home"), false)),
                        Duration.ofHours(8)),
                access,
                id -> id.equals(BootFixture.TICKET) ? OptionalInt.of(BEN.uid()) : OptionalInt.empty(),
                () -> new ProjectMembers(members),
                new WorkerProvisioner.KeySealing(new Hpke(opening.crypto), munge),
                () -> now);
    }

    ExpectedWorkers.ExpectedSlot place(int slot) {
        Allocation allocation = ticket.allocation(address);
        return new ExpectedWorkers.ExpectedSlot(allocation, allocation.slots().get(slot));
    }

    /** Says nothing but questions. */
    WorkerAttestation createAttestation() throws IOException {
        return new WorkerAttestation(
                context(),
                HandoverLedger.open(folder.resolve("arriving")),
                new UnauthenticatedPeerCounter(counts::unauthenticatedPeer));
    }

    interface Condition {
        boolean isMet() throws Exception;
    }

    /** On the admission's thread, in the end. */
    void awaits(Condition condition) throws Exception {
        for (int i = 0; i < 1000 && !decisions.submit(condition::isMet).get(20, TimeUnit.SECONDS); i++) {
            Thread.sleep(10);
        }
        settle(() -> assertThat(condition.isMet()).isTrue());
    }

    /** The slot's worker, of which nobody is to come any more, in the end. */
    void isGone(String code) throws Exception {
        for (int i = 0; i < 1000 && events.stream().noneMatch(WorkerEvent.NodeGone.class::isInstance); i++) {
            Thread.sleep(10);
        }
        settle(() -> assertThat(events)
                .filteredOn(WorkerEvent.NodeGone.class::isInstance)
                .extracting(event -> ((WorkerEvent.NodeGone) event).reason().code())
                .containsExactly(code));
    }

    /** What receipts were told, in the end. */
    void isTold(String... recorded) throws Exception {
        for (int i = 0; i < 400 && recorder.recorded.size() < recorded.length; i++) {
            Thread.sleep(10);
        }
        assertThat(recorder.recorded).containsExactly(recorded);
    }

    /** The slot's worker says that it is back. */
    static VmMessage.Resume resume() {
        return new VmMessage.Resume(
                BootFixture.TICKET, SLOT, ControllerUnlockFixture.VM, Nonce.random(new SecureRandom()));
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
        final BootKeyPairs keys = BootKeyPairs.generate(opening.secrets);
        final TlsCredential boot = TlsCredential.of(
                keys.signing(),
                List.of(BootCertificate.make(
                        worker,
                        SubjectPublicKey.of(keys.publicKeys().signing()),
                        CertificateSigner.of(keys.signing()),
                        ControllerUnlockFixture.NOW,
                        new SecureRandom())));

        Vm() throws IOException {}

        Session calls() throws Exception {
            return new Session(this, boot);
        }

        Session callsWith(HandoverDocument document) throws Exception {
            return callsWith(document.certificates());
        }

        Session callsWith(List<ByteString> certificates) throws Exception {
            return new Session(
                    this,
                    TlsCredential.of(
                            keys.signing(),
                            certificates.stream().map(ByteString::toByteArray).toList()));
        }

        /** As an authority of the project would for whoever has its key. */
        Session callsCertified() throws Exception {
            return new Session(
                    this,
                    TlsCredential.of(
                            keys.signing(),
                            unlocked.authority()
                                    .issue(worker, keys.publicKeys().signing(), ControllerUnlockFixture.NOW)));
        }
    }

    /** The VM's end of one circuit. */
    final class Session {
        final CircuitMessageRecorder<VerifierMessage> listener = new CircuitMessageRecorder<>(VerifierMessage.class);
        final Vm vm;
        final TlsCredential credential;
        final Circuit circuit;

        Session(Vm vm, TlsCredential credential) throws Exception {
            this(vm, credential, (pipeline, end) -> admission.startSession(pipeline, end, own));
        }

        /** With something else than the admission at the other end. */
        Session(Vm vm, TlsCredential credential, Function<Circuit, ChannelHandler> desks) throws Exception {
            this(
                    vm,
                    credential,
                    (pipeline, end) -> pipeline.addLast(
                            new MessageFraming(ProtocolLimits.BOOTING_VM_MESSAGE_BYTES, VmMessage::read),
                            desks.apply(end)));
        }

        private Session(Vm vm, TlsCredential credential, Circuit.Application desks) throws Exception {
            this.vm = vm;
            this.credential = credential;
            this.circuit = circuits.open(
                            new CircuitTerms(worker, opening.controller, Digest.sha384("policy")),
                            new CircuitPair.End(
                                    credential,
                                    CertifiedPeerVerifier.forRoles(trustStore, Set.of(CertificateRole.CONTROLLER))
                                            .only(opening.controller),
                                    (pipeline, end) -> pipeline.addLast(
                                            new MessageFraming(ProtocolLimits.HAND_OVER_BYTES, VerifierMessage::read),
                                            listener)),
                            new CircuitPair.End(
                                    own,
                                    BootPeerVerifier.forBootingVmOr(CertifiedPeerVerifier.forRoles(
                                                    trustStore, Set.of(CertificateRole.WORKER)))
                                            .only(worker),
                                    desks))
                    .opener();
        }

        void awaitEnd() throws InterruptedException {
            assertThat(circuit.channel().closeFuture().await(20, TimeUnit.SECONDS))
                    .as("the circuit ends within 20 s")
                    .isTrue();
        }

        void send(VmMessage message) {
            circuit.channel().writeAndFlush(MessageFraming.frame(message.wire()));
        }

        VerifierMessage receive() throws InterruptedException {
            return listener.hears();
        }

        Nonce asked() throws InterruptedException {
            return ((VerifierMessage.Question) receive()).nonce();
        }

        void shows(Nonce nonce, UnaryOperator<EvidenceStatement> change, SigningKey signer) throws Exception {
            CircuitBinding binding = CircuitBinding.of(
                    own.chain().get(0).getEncoded(), credential.chain().get(0).getEncoded());
            EvidenceStatement statement = change.apply(new EvidenceStatement(
                    "node1",
                    new VmFacts(
                            project,
                            ControllerUnlockFixture.VM,
                            VmRole.WORKER,
                            BootFixture.TICKET,
                            SLOT,
                            ControllerUnlockFixture.IMAGE,
                            new VmShape(4, 4096, 0),
                            HostSharing.NONE),
                    new AttestationClaims(vm.keys.publicKeys(), nonce, binding),
                    ControllerUnlockFixture.NOW,
                    List.of()));
            DsseEnvelope envelope = DsseEnvelope.sign(EvidenceStatement.TYPE, statement.json(), signer);
            send(new VmMessage.Evidence(ByteString.copyFrom(envelope.bytes()), ControllerUnlockFixture.NOW));
        }

        HandoverDocument isGiven() throws Exception {
            shows(asked(), UnaryOperator.identity(), opening.host);
            return (HandoverDocument) receive();
        }

        List<String> isDenied(UnaryOperator<EvidenceStatement> change, SigningKey signer) throws Exception {
            shows(asked(), change, signer);
            return ((VerifierMessage.Denied) receive()).clauses();
        }
    }

    static EvidenceStatement with(EvidenceStatement statement, VmFacts facts) {
        return new EvidenceStatement(
                statement.host(), facts, statement.claim(), statement.issued(), statement.attachments());
    }

    static EvidenceStatement with(EvidenceStatement statement, AttestationClaims claim) {
        return new EvidenceStatement(
                statement.host(), statement.facts(), claim, statement.issued(), statement.attachments());
    }
}
