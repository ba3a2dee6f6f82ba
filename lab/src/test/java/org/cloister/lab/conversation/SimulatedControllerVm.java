package org.cloister.lab.conversation;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.FileAlreadyExistsException;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.cloister.base.encoding.Digest;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.key.LibCryptoCalls;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.AttestationClaims;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.EvidenceRefusedException;
import org.cloister.protocol.evidence.EvidenceStatementSigner;
import org.cloister.protocol.evidence.EvidenceStore;
import org.cloister.protocol.evidence.IssuanceRefusedException;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.SealingContext;
import org.cloister.protocol.handover.VmAssignment;
import org.cloister.protocol.handover.VmEndReport;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.BootCertificate;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertificateSigner;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.policy.VmShape;
import org.cloister.protocol.ticket.Opening;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.link.AgentLinkListener;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.controller.unlock.UnlockRefusal;
import org.cloister.vm.controller.unlock.UnlockRefused;
import org.cloister.vm.controller.unlock.UnlockServer;
import org.cloister.vm.controller.unlock.UnlockVerification;
import org.cloister.vm.controller.unlock.VerifiedUnlock;

/** A controlling VM that waits for its opener, without a machine: agent-vm's end of the opening, and its host's statement. */
@SuppressWarnings("NullAway") // what is missing shows as a failed test
final class SimulatedControllerVm implements AgentLinkListener, EvidenceStore, AutoCloseable {
    private static final SecureRandom RANDOM = new SecureRandom();

    /** Action on the drive. */
    interface DriveAction {
        /** Evidence is asked for. */
        default void asked() {}

        /** Returns when the drive is open. */
        default void opens() throws InterruptedException {}

        /** @return what it does not open for */
        default Optional<UnlockRefused> fault() {
            return Optional.empty();
        }

        /** @return why the drive's last VM ended itself */
        default Optional<VmEndReport> lastEnd() {
            return Optional.empty();
        }

        /** The opener has shown that. */
        default void acknowledged() {}
    }

    final AtomicInteger opened = new AtomicInteger();
    final Map<String, byte[]> statements = new ConcurrentHashMap<>();
    final Set<String> ends = ConcurrentHashMap.newKeySet();
    final AtomicInteger dials = new AtomicInteger();

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final ExecutorService work = Executors.newSingleThreadExecutor();
    private final SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.RUN_WITHOUT_LOCKED_MEMORY);
    private final BootKeyPairs keys = BootKeyPairs.generate(secrets);
    private final CountDownLatch served = new CountDownLatch(1);
    private final Opening opening;
    private final EvidenceStatementSigner host;
    private final DriveAction drive;
    private final UnlockServer unlockServer;
    private final AgentLink link;

    SimulatedControllerVm(
            TlsCredential host,
            String relay,
            TrustStore trustStore,
            ProjectHistory owners,
            Opening opening,
            DriveAction drive)
            throws Exception {
        this.opening = opening;
        this.drive = drive;
        this.host = new EvidenceStatementSigner(
                "h1", SigningKey.of(new KeyPair(host.chain().get(0).getPublicKey(), host.key())), this);
        CertificateName opener = new CertificateName("cat", CertificateRole.OPENER.toString(), opening.project());
        VmAssignment assignment =
                new VmAssignment(opening.controller(), CertificateRole.CONTROLLER, opening.id(), 0, opener, owners);
        CertificateSigner signer = CertificateSigner.of(keys.signing());
        byte[] boot = BootCertificate.make(
                assignment.name(), SubjectPublicKey.of(keys.publicKeys().signing()), signer, Instant.now(), RANDOM);
        this.unlockServer = new UnlockServer(
                new UnlockServer.Context(
                        new UnlockVerification.VmIdentity(
                                assignment, keys.publicKeys().signing(), signer),
                        keys.publicKeys(),
                        TlsCredential.of(keys.signing(), List.of(boot)),
                        CertifiedPeerVerifier.forRoles(trustStore, Set.of(CertificateRole.OPENER))),
                this::vouch,
                this::open,
                work,
                InstantSource.system(),
                ends::add,
                drive::acknowledged);
        String[] at = relay.split(":", 2);
        AgentLink.Settings terms = new AgentLink.Settings(
                List.of(new InetSocketAddress(at[0], Integer.parseInt(at[1]))),
                () -> host,
                each -> each,
                trustStore,
                "a host");
        this.link = new AgentLink(loops, terms, this, RANDOM);
    }

    SimulatedControllerVm boot() throws InterruptedException {
        if (!served.await(20, TimeUnit.SECONDS)) {
            throw new AssertionError("the VM's name is not served");
        }
        return this;
    }

    private Future<DsseEnvelope> vouch(AttestationClaims claim) {
        drive.asked();
        VmFacts facts = new VmFacts(
                opening.project(),
                "tq4bcfcxfokh6sbolidgqd2f3i",
                VmRole.CONTROLLER,
                opening.id(),
                0,
                Digest.sha384("image"),
                new VmShape(opening.cpus(), opening.memoryMib(), 0),
                HostSharing.PROJECT);
        try {
            return ImmediateEventExecutor.INSTANCE.newSucceededFuture(
                    host.issue(facts, claim, List.of(), Instant.now()));
        } catch (IssuanceRefusedException e) {
            return ImmediateEventExecutor.INSTANCE.newFailedFuture(
                    new EvidenceRefusedException(EvidenceMessage.RefusalReason.ANOTHER));
        } catch (IOException | GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    /** Of the drive's key, as the VM's machine would: it opens for this boot, question and epoch alone. */
    @SuppressWarnings("try") // what is opened is only there to be closed
    private VmMessage.Opened open(VerifiedUnlock unlocked) throws UnlockRefused {
        byte[] info = SealingContext.unlock(opening.project(), unlocked.target(), unlocked.epoch());
        try (SecretMemory key = new Hpke(LibCryptoCalls.load(secrets))
                .open(
                        keys.sealing(),
                        info,
                        new byte[0],
                        unlocked.driveKey().bytes().toByteArray())) {
            drive.opens();
        } catch (IOException e) {
            throw new UnlockRefused(UnlockRefusal.KEY, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new UnlockRefused(BootPhase.DRIVE, "drive", e);
        }
        if (drive.fault().isPresent()) {
            throw drive.fault().get();
        }
        opened.incrementAndGet();
        return new VmMessage.Opened(unlocked.create() ? 0 : unlocked.epoch() - 1, unlocked.create(), drive.lastEnd());
    }

    @Override
    public void onAttached(AgentAttachStream attachment) {
        attachment.serve(opening.controller());
    }

    @Override
    public void onServed(CertificateName each, Optional<CloseReason> refused) {
        served.countDown();
    }

    @Override
    public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
        dials.incrementAndGet();
        unlockServer.onDial(attachment, dial);
    }

    @Override
    public boolean onRevocationList(byte[] signed) {
        return true;
    }

    @Override
    public void onLost(String why) {}

    @Override
    public Optional<byte[]> find(String vm) {
        return Optional.ofNullable(statements.get(vm));
    }

    @Override
    public void store(String vm, byte[] payload) throws IOException {
        if (statements.putIfAbsent(vm, payload) != null) {
            throw new FileAlreadyExistsException(vm);
        }
    }

    @Override
    public void close() {
        link.close();
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        work.shutdownNow();
        keys.close();
    }
}
