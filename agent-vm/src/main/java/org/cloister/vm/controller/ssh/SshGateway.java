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
    private static final Duration ENDING = Duration.ofSeconds(20);
    /** Time for the text of a refusal to arrive. */
    private static final Duration REFUSED = Duration.ofSeconds(5);

    private final Context terms;
    private final SessionEnvironment place;
    private final SshdLauncher launcher;
    private final ExportAuditSink records;
    private final SshSessionMetrics tally;
    private final UnauthenticatedPeerCounter strangers;
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "session");
        thread.setDaemon(true);
        return thread;
    });
    private final EventLoop looking = new DefaultEventLoop();
    private final OpenCircuits open;
    /** Number of sessions by person, guarded by this object's lock, as is the last session's number. */
    private final Map<String, Integer> sessions = new HashMap<>();

    private long last;
    private final Set<Circuit> circuits = ConcurrentHashMap.newKeySet();

    /**
     * Identity of the VM, and the people whom it accepts.
     *
     * @param own current credential for its name, read when a circuit opens
     * @param members returns the members at the time a person connects
     */
    public record Context(Supplier<TlsCredential> own, TrustStore trustStore, Supplier<ProjectMembers> members) {}

    public SshGateway(
            Context terms,
            SessionEnvironment place,
            SshdLauncher launcher,
            ExportAuditSink records,
            SshSessionMetrics tally) {
        this.terms = terms;
        this.place = place;
        this.launcher = launcher;
        this.records = event -> {
            records.append(event);
            ExportRecorder.sent(event).ifPresent(tally::fileExported);
        };
        this.tally = tally;
        this.strangers = new UnauthenticatedPeerCounter(() -> tally.sessionRefused(SshSessionMetrics.CIRCUIT));
        this.open = new OpenCircuits(
                terms.trustStore(),
                looking,
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
            if (strangers.countEvent()) {
                LOG.warn("{}: neither a member nor an exporter; {}", dial.from(), strangers);
            }
            attachment.refuse(dial, CloseReason.REFUSED);
            return;
        }
        Circuit.dialBack(attachment.link(), dial, terms.own().get(), trust(), this::startSession)
                .addListener((Future<Circuit> opened) -> {
                    if (!opened.isSuccess() && strangers.countEvent()) {
                        LOG.warn(
                                "{}: no circuit: {}; {}",
                                dial.from(),
                                opened.cause().getMessage(),
                                strangers);
                    }
                });
    }

    CertifiedPeerVerifier trust() {
        return CertifiedPeerVerifier.forRoles(terms.trustStore(), ROLES);
    }

    /** Starts a session on an open circuit, or refuses it. */
    void startSession(ChannelPipeline pipeline, Circuit circuit) {
        open.add(circuit);
        CertificateName person = circuit.peer().name();
        Optional<ProjectMember> member = terms.members().get().ofPerson(person.id());
        if (member.isEmpty()) {
            refuse(
                    circuit,
                    AccessResponse.Refused.MEMBER,
                    "the project's list of members has no login for " + person.id() + "; ask an owner to enter it");
            return;
        }
        Optional<Long> number = enter(person.id());
        if (number.isEmpty()) {
            refuse(
                    circuit,
                    AccessResponse.Refused.SESSIONS,
                    "want at most " + MAX_SESSIONS_PER_PERSON + " sessions of a person and " + MAX_SESSIONS
                            + " in all, have as many; end one");
            return;
        }
        SshSession session = new SshSession(
                place,
                new SshSession.Identity(
                        number.get(),
                        person,
                        CertificateRole.of(person.role()).orElseThrow(),
                        member.get(),
                        circuit.peer().key().id(),
                        SshPublicKey.of(circuit.peer().key())),
                records,
                threads);
        CompletableFuture<SshCircuitPipe> begun = new CompletableFuture<>();
        // Not before everything exists that the end must stop.
        SshCircuitPipe splice = new SshCircuitPipe(
                circuit, threads, () -> begun.thenAcceptAsync(passing -> end(session, passing), threads));
        pipeline.addLast(splice);
        circuits.add(circuit);
        circuit.channel().closeFuture().addListener(closed -> circuits.remove(circuit));
        threads.execute(() -> {
            begin(session, circuit, splice);
            begun.complete(splice);
        });
    }

    private synchronized Optional<Long> enter(String person) {
        if (sessionCount() >= MAX_SESSIONS || sessions.getOrDefault(person, 0) >= MAX_SESSIONS_PER_PERSON) {
            return Optional.empty();
        }
        sessions.merge(person, 1, Integer::sum);
        tally.sessionStarted();
        return Optional.of(++last);
    }

    private synchronized void leave(String person) {
        sessions.computeIfPresent(person, (id, count) -> count > 1 ? count - 1 : null);
        tally.sessionEnded();
        notifyAll();
    }

    private void begin(SshSession session, Circuit circuit, SshCircuitPipe splice) {
        try {
            SshdLauncher.Streams ends = session.start(launcher);
            circuit.channel().eventLoop().execute(() -> {
                circuit.channel()
                        .writeAndFlush(MessageFraming.frame(new AccessResponse.Granted(
                                        place.hostKey().key(),
                                        session.identity().member().login())
                                .wire()));
                splice.start(ends.out(), ends.in());
            });
            LOG.info("{} begun", session.identity());
        } catch (ExportSession.NotRecordedException e) {
            LOG.error("{}: {}", session.identity(), e.getMessage());
            circuit.channel()
                    .eventLoop()
                    .execute(() -> refuse(
                            circuit,
                            AccessResponse.Refused.RECORD,
                            "nothing goes out of the project while that cannot be recorded; ask an owner to look at the"
                                    + " controlling VM's disk"));
        } catch (IOException | RuntimeException e) {
            LOG.error("{}: no sshd: {}", session.identity(), e.toString());
            circuit.channel()
                    .eventLoop()
                    .execute(() -> refuse(
                            circuit,
                            AccessResponse.Refused.TROUBLE,
                            "the controlling VM cannot start a session; its log says why"));
        }
    }

    private void refuse(Circuit circuit, String word, String text) {
        tally.sessionRefused(word);
        LOG.warn("{}: refused: {}", circuit.terms().from(), word);
        circuit.channel().writeAndFlush(MessageFraming.frame(new AccessResponse.Refused(word, text).wire()));
        circuit.shutdownOutput();
        // A refused person who stays connected must not occupy one of the VM's circuits.
        circuit.channel()
                .eventLoop()
                .schedule(() -> circuit.channel().close(), REFUSED.toMillis(), TimeUnit.MILLISECONDS);
    }

    private void end(SshSession session, SshCircuitPipe splice) {
        try {
            session.stop(() -> splice.circuit().channel().eventLoop().execute(splice::release));
            LOG.info("{} ended", session.identity());
        } catch (IOException e) {
            LOG.error("{}: not ended in good order: {}", session.identity(), e.getMessage());
        } finally {
            leave(session.identity().person().id());
        }
    }

    /** Returns the number of sessions. */
    synchronized int sessionCount() {
        return sessions.values().stream().mapToInt(each -> each).sum();
    }

    /** Ends all sessions, in bounded time. No session may start any more. */
    @Override
    public void close() {
        open.close();
        looking.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        circuits.forEach(circuit -> circuit.close(CloseReason.DRAINING));
        try {
            awaitEnds();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (sessionCount() > 0) {
            LOG.warn("sessions: {} have not ended", sessionCount());
        }
        threads.shutdownNow();
    }

    private synchronized void awaitEnds() throws InterruptedException {
        long untilNs = System.nanoTime() + ENDING.toNanos();
        for (long leftNs = ENDING.toNanos(); sessionCount() > 0 && leftNs > 0; leftNs = untilNs - System.nanoTime()) {
            TimeUnit.NANOSECONDS.timedWait(this, leftNs);
        }
    }
}
