package org.cloister.lab.ends;

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
import org.cloister.luks.key.Crypto;
import org.cloister.luks.key.Hpke;
import org.cloister.luks.secret.SecretMemory;
import org.cloister.luks.secret.Secrets;
import org.cloister.protocol.Digest;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.Claim;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.Issuer;
import org.cloister.protocol.evidence.NoEvidence;
import org.cloister.protocol.evidence.StatementRecord;
import org.cloister.protocol.evidence.StatementRefused;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.handover.Assignment;
import org.cloister.protocol.handover.BootPhase;
import org.cloister.protocol.handover.SealingContext;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.BootCertificate;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.identity.Signer;
import org.cloister.protocol.identity.SubjectKey;
import org.cloister.protocol.link.AgentEvents;
import org.cloister.protocol.link.AgentLink;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.Trust;
import org.cloister.protocol.policy.Shape;
import org.cloister.protocol.policy.Sharing;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.ticket.Opening;
import org.cloister.vm.boot.BootKeyPairs;
import org.cloister.vm.opening.OpeningDesk;
import org.cloister.vm.opening.Refusal;
import org.cloister.vm.opening.UnlockRefused;
import org.cloister.vm.opening.Unlocked;
import org.cloister.vm.opening.Unlocking;

/** A controlling VM that waits for its opener, without a machine: agent-vm's end of the opening, and its host's statement. */
@SuppressWarnings("NullAway") // what is missing shows as a failed test
final class OpeningVm implements AgentEvents, StatementRecord, AutoCloseable {
    private static final SecureRandom RANDOM = new SecureRandom();

    /** What happens there. */
    interface Drive {
        /** Evidence is asked for. */
        default void asked() {}

        /** Returns when the drive is open. */
        default void opens() throws InterruptedException {}

        /** @return what it does not open for */
        default Optional<UnlockRefused> fault() {
            return Optional.empty();
        }
    }

    final AtomicInteger opened = new AtomicInteger();
    final Map<String, byte[]> statements = new ConcurrentHashMap<>();
    final Set<String> ends = ConcurrentHashMap.newKeySet();
    final AtomicInteger dials = new AtomicInteger();

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final ExecutorService work = Executors.newSingleThreadExecutor();
    private final Secrets secrets = Secrets.open(Secrets.Locking.RUN_WITHOUT_LOCKED_MEMORY);
    private final BootKeyPairs keys = BootKeyPairs.make(secrets, RANDOM);
    private final CountDownLatch served = new CountDownLatch(1);
    private final Opening opening;
    private final Issuer host;
    private final Drive drive;
    private final OpeningDesk desk;
    private final AgentLink link;

    OpeningVm(Credential host, String relay, Beliefs beliefs, ProjectHistory owners, Opening opening, Drive drive)
            throws Exception {
        this.opening = opening;
        this.drive = drive;
        this.host =
                new Issuer("h1", SigningKey.of(new KeyPair(host.chain().get(0).getPublicKey(), host.key())), this);
        Name opener = new Name("cat", Role.OPENER.toString(), opening.project());
        Assignment assignment = new Assignment(opening.controller(), Role.CONTROLLER, opening.id(), 0, opener, owners);
        Signer signer = Signer.of(keys.signing());
        byte[] boot = BootCertificate.make(
                assignment.name(), SubjectKey.of(keys.shown().signing()), signer, Instant.now(), RANDOM);
        this.desk = new OpeningDesk(
                new OpeningDesk.Terms(
                        new Unlocking.Self(assignment, keys.shown().signing(), signer),
                        keys.shown(),
                        Credential.of(keys.signing(), List.of(boot)),
                        Trust.in(beliefs, Set.of(Role.OPENER))),
                this::vouch,
                this::open,
                work,
                InstantSource.system(),
                ends::add);
        String[] at = relay.split(":", 2);
        AgentLink.Terms terms = new AgentLink.Terms(
                List.of(new InetSocketAddress(at[0], Integer.parseInt(at[1]))),
                () -> host,
                each -> each,
                beliefs,
                "a host");
        this.link = new AgentLink(loops, terms, this, RANDOM);
    }

    OpeningVm boot() throws InterruptedException {
        if (!served.await(20, TimeUnit.SECONDS)) {
            throw new AssertionError("the VM's name is not served");
        }
        return this;
    }

    private Future<Envelope> vouch(Claim claim) {
        drive.asked();
        VmFacts facts = new VmFacts(
                opening.project(),
                "tq4bcfcxfokh6sbolidgqd2f3i",
                VmRole.CONTROLLER,
                opening.id(),
                0,
                Digest.sha384("image"),
                new Shape(opening.cpus(), opening.memoryMib(), 0),
                Sharing.PROJECT);
        try {
            return ImmediateEventExecutor.INSTANCE.newSucceededFuture(
                    host.issue(facts, claim, List.of(), Instant.now()));
        } catch (StatementRefused e) {
            return ImmediateEventExecutor.INSTANCE.newFailedFuture(new NoEvidence(EvidenceMessage.Why.ANOTHER));
        } catch (IOException | GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    /** Of the drive's key, as the VM's machine would: it opens for this boot, question and epoch alone. */
    @SuppressWarnings("try") // what is opened is only there to be closed
    private VmMessage.Opened open(Unlocked unlocked) throws UnlockRefused {
        byte[] info = SealingContext.unlock(opening.project(), unlocked.place(), unlocked.epoch());
        try (SecretMemory key = new Hpke(Crypto.load(secrets))
                .open(
                        keys.sealing(),
                        info,
                        new byte[0],
                        unlocked.driveKey().bytes().toByteArray())) {
            drive.opens();
        } catch (IOException e) {
            throw new UnlockRefused(Refusal.KEY, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new UnlockRefused(BootPhase.DRIVE, "drive", e);
        }
        if (drive.fault().isPresent()) {
            throw drive.fault().get();
        }
        opened.incrementAndGet();
        return new VmMessage.Opened(0, unlocked.create());
    }

    @Override
    public void attached(Attachment attachment) {
        attachment.serve(opening.controller());
    }

    @Override
    public void served(Name each, Optional<CloseReason> refused) {
        served.countDown();
    }

    @Override
    public void dialled(Attachment attachment, RelayMessage.Dial dial) {
        dials.incrementAndGet();
        desk.dialled(attachment, dial);
    }

    @Override
    public boolean revoked(byte[] signed) {
        return true;
    }

    @Override
    public void lost(String why) {}

    @Override
    public Optional<byte[]> find(String vm) {
        return Optional.ofNullable(statements.get(vm));
    }

    @Override
    public void keep(String vm, byte[] payload) throws IOException {
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
