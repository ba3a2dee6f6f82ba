package org.cloister.vm.controller.ssh;

import io.netty.channel.ChannelPipeline;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.cloister.protocol.access.AccessResponse;
import org.cloister.protocol.access.SshPublicKey;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.circuit.Circuit;
import org.cloister.transport.circuit.OpenCircuits;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.MessageFraming;
import org.cloister.transport.tls.TlsCredential;
import org.cloister.vm.boot.UnauthenticatedPeerCounter;
import org.cloister.vm.system.users.ProjectMember;
import org.cloister.vm.system.users.ProjectMembers;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts people's circuits and starts an sshd for each: for the login that the project's list has for the person, and
 * for the key that opened the circuit. Nothing listens on a port. A session ends with its circuit.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a failing channel closes, which is handled
public final class SshGateway implements AutoCloseable {
    /** docs/protocol.md, section 9, "Persons": half of a VM's circuits are reserved for workers. */
    static final int MAX_SESSIONS = 32;

    static final int MAX_SESSIONS_PER_PERSON = 8;
    private static final Logger LOG = LoggerFactory.getLogger(SshGateway.class);
    private static final Set<CertificateRole> ROLES = Set.of(CertificateRole.MEMBER, CertificateRole.EXPORTER);
    private static final Duration END_LIMIT = Duration.ofSeconds(20);
    /** Time for the text of a refusal to arrive. */
    private static final Duration REFUSAL_DELAY = Duration.ofSeconds(5);

    private final Context context;
    private final SessionEnvironment environment;
    private final SshdLauncher launcher;
    private final ExportAuditSink records;
    private final SshSessionMetrics metrics;
    private final UnauthenticatedPeerCounter unauthenticatedPeers;
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "session");
        thread.setDaemon(true);
        return thread;
    });
    private final EventLoop checkLoop = new DefaultEventLoop();
    private final OpenCircuits openCircuits;
    /** Number of sessions by person, guarded by this object's lock, as is the last session's number. */
    private final Map<String, Integer> sessions = new HashMap<>();

    private long lastNumber;
    private final Set<Circuit> circuits = ConcurrentHashMap.newKeySet();

    /**
     * Identity of the VM, and the people whom it accepts.
     *
     * @param own current credential for its name, read when a circuit opens
     * @param members returns the members at the time a person connects
     */
    public record Context(Supplier<TlsCredential> own, TrustStore trustStore, Supplier<ProjectMembers> members) {}

    public SshGateway(
            Context context,
            SessionEnvironment environment,
            SshdLauncher launcher,
            ExportAuditSink records,
            SshSessionMetrics metrics) {
        this.context = context;
        this.environment = environment;
        this.launcher = launcher;
        this.records = event -> {
            records.append(event);
            ExportRecorder.sent(event).ifPresent(metrics::fileExported);
        };
        this.metrics = metrics;
        this.unauthenticatedPeers =
                new UnauthenticatedPeerCounter(() -> metrics.sessionRefused(SshSessionMetrics.CIRCUIT));
        this.openCircuits = new OpenCircuits(
                context.trustStore(),
                checkLoop,
                ended -> LOG.warn(
                        "{}: circuit ended: {}",
                        ended.what().terms().from(),
                        ended.refusal().getMessage()));
    }

    /** Returns whether a name has a role that this gateway serves. */
    public static boolean isPerson(CertificateName name) {
        return CertificateRole.of(name.role()).filter(ROLES::contains).isPresent();
    }

    /** Accepts a connection that claims to be a person. Called on the link's event loop. */
    public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
        if (!isPerson(dial.from())) {
            if (unauthenticatedPeers.countEvent()) {
                LOG.warn("{}: neither a member nor an exporter; {}", dial.from(), unauthenticatedPeers);
            }
            attachment.refuse(dial, CloseReason.REFUSED);
            return;
        }
        Circuit.dialBack(attachment.link(), dial, context.own().get(), trust(), this::startSession)
                .addListener((Future<Circuit> opened) -> {
                    if (!opened.isSuccess() && unauthenticatedPeers.countEvent()) {
                        LOG.warn(
                                "{}: no circuit: {}; {}",
                                dial.from(),
                                opened.cause().getMessage(),
                                unauthenticatedPeers);
                    }
                });
    }

    CertifiedPeerVerifier trust() {
        return CertifiedPeerVerifier.forRoles(context.trustStore(), ROLES);
    }

    /** Starts a session on an open circuit, or refuses it. */
    void startSession(ChannelPipeline pipeline, Circuit circuit) {
        openCircuits.add(circuit);
        CertificateName person = circuit.peer().name();
        Optional<ProjectMember> member = context.members().get().ofPerson(person.id());
        if (member.isEmpty()) {
            refuse(
                    circuit,
                    AccessResponse.Refused.MEMBER,
                    "the project's list of members has no login for " + person.id() + "; ask an owner to add it");
            return;
        }
        Optional<Long> number = acquireSession(person.id());
        if (number.isEmpty()) {
            refuse(
                    circuit,
                    AccessResponse.Refused.SESSIONS,
                    "no free session: at most " + MAX_SESSIONS_PER_PERSON + " of a person and " + MAX_SESSIONS
                            + " in all may be open; end one");
            return;
        }
        SshSession session = new SshSession(
                environment,
                new SshSession.Identity(
                        number.get(),
                        person,
                        CertificateRole.of(person.role()).orElseThrow(),
                        member.get(),
                        circuit.peer().key().id(),
                        SshPublicKey.of(circuit.peer().key())),
                records,
                threads);
        CompletableFuture<SshCircuitPipe> startedPipe = new CompletableFuture<>();
        // Not before everything exists that the end must stop.
        SshCircuitPipe pipe = new SshCircuitPipe(
                circuit, threads, () -> startedPipe.thenAcceptAsync(started -> endSession(session, started), threads));
        pipeline.addLast(pipe);
        circuits.add(circuit);
        circuit.channel().closeFuture().addListener(closed -> circuits.remove(circuit));
        threads.execute(() -> {
            startSshd(session, circuit, pipe);
            startedPipe.complete(pipe);
        });
    }

    private synchronized Optional<Long> acquireSession(String person) {
        if (sessionCount() >= MAX_SESSIONS || sessions.getOrDefault(person, 0) >= MAX_SESSIONS_PER_PERSON) {
            return Optional.empty();
        }
        sessions.merge(person, 1, Integer::sum);
        metrics.sessionStarted();
        return Optional.of(++lastNumber);
    }

    private synchronized void releaseSession(String person) {
        sessions.computeIfPresent(person, (id, count) -> count > 1 ? count - 1 : null);
        metrics.sessionEnded();
        notifyAll();
    }

    private void startSshd(SshSession session, Circuit circuit, SshCircuitPipe pipe) {
        try {
            SshdLauncher.Streams streams = session.start(launcher);
            circuit.channel().eventLoop().execute(() -> {
                circuit.channel()
                        .writeAndFlush(MessageFraming.frame(new AccessResponse.Granted(
                                        environment.hostKey().key(),
                                        session.identity().member().login())
                                .wire()));
                pipe.start(streams.out(), streams.in());
            });
            LOG.info("{} started", session.identity());
        } catch (ExportSession.NotRecordedException e) {
            LOG.error("{}: {}", session.identity(), e.getMessage());
            circuit.channel()
                    .eventLoop()
                    .execute(() -> refuse(
                            circuit,
                            AccessResponse.Refused.RECORD,
                            "no data leaves the project while that cannot be recorded; ask an owner to check the"
                                    + " controlling VM's disk"));
        } catch (IOException | RuntimeException e) {
            LOG.error("{}: sshd cannot be started: {}", session.identity(), e.toString());
            circuit.channel()
                    .eventLoop()
                    .execute(() -> refuse(
                            circuit,
                            AccessResponse.Refused.TROUBLE,
                            "the controlling VM cannot start a session; its log says why"));
        }
    }

    private void refuse(Circuit circuit, String reason, String text) {
        metrics.sessionRefused(reason);
        LOG.warn("{}: refused: {}", circuit.terms().from(), reason);
        circuit.channel().writeAndFlush(MessageFraming.frame(new AccessResponse.Refused(reason, text).wire()));
        circuit.shutdownOutput();
        // A refused person who stays connected must not occupy one of the VM's circuits.
        circuit.channel()
                .eventLoop()
                .schedule(() -> circuit.channel().close(), REFUSAL_DELAY.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void endSession(SshSession session, SshCircuitPipe pipe) {
        try {
            session.stop(() -> pipe.circuit().channel().eventLoop().execute(pipe::release));
            LOG.info("{} ended", session.identity());
        } catch (IOException e) {
            LOG.error("{}: cannot be stopped: {}", session.identity(), e.getMessage());
        } finally {
            releaseSession(session.identity().person().id());
        }
    }

    /** Returns the number of sessions. */
    synchronized int sessionCount() {
        return sessions.values().stream().mapToInt(each -> each).sum();
    }

    /** Ends all sessions, in bounded time. No session may start any more. */
    @Override
    public void close() {
        openCircuits.close();
        checkLoop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        circuits.forEach(circuit -> circuit.close(CloseReason.DRAINING));
        try {
            awaitEnds();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (sessionCount() > 0) {
            LOG.warn("{} sessions did not end in time", sessionCount());
        }
        threads.shutdownNow();
    }

    private synchronized void awaitEnds() throws InterruptedException {
        long untilNs = System.nanoTime() + END_LIMIT.toNanos();
        for (long remainingNs = END_LIMIT.toNanos();
                sessionCount() > 0 && remainingNs > 0;
                remainingNs = untilNs - System.nanoTime()) {
            TimeUnit.NANOSECONDS.timedWait(this, remainingNs);
        }
    }
}
