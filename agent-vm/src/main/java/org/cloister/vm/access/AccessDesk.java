package org.cloister.vm.access;

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
import org.cloister.protocol.access.AccessAnswer;
import org.cloister.protocol.access.SshKey;
import org.cloister.protocol.circuit.Circuit;
import org.cloister.protocol.circuit.OpenCircuits;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.Framing;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.Trust;
import org.cloister.vm.Strangers;
import org.cloister.vm.users.Member;
import org.cloister.vm.users.Members;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Persons come here by circuits, and each gets an sshd of its own: of the login that the project's list has for the person, for
 * the key that opened the circuit. Nothing listens. A session ends with its circuit.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes as its end
public final class AccessDesk implements AutoCloseable {
    /** docs/protocol.md, section 9, "Persons": half of a VM's circuits stay for workers. */
    static final int SESSIONS = 32;

    static final int SESSIONS_OF_ONE = 8;
    private static final Logger LOG = LoggerFactory.getLogger(AccessDesk.class);
    private static final Set<Role> ROLES = Set.of(Role.MEMBER, Role.EXPORTER);
    private static final Duration ENDING = Duration.ofSeconds(20);

    private final Terms terms;
    private final Place place;
    private final Launcher launcher;
    private final Records records;
    private final Tally tally;
    private final Strangers strangers;
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "session");
        thread.setDaemon(true);
        return thread;
    });
    private final EventLoop looking = new DefaultEventLoop();
    private final OpenCircuits open;
    /** Sessions by person, under this object's lock, as is the number. */
    private final Map<String, Integer> sessions = new HashMap<>();

    private long last;
    private final Set<Circuit> circuits = ConcurrentHashMap.newKeySet();

    /**
     * Whom the VM takes.
     *
     * @param own of its name, as it is when a circuit opens
     * @param members as they are when somebody comes
     */
    public record Terms(Supplier<Credential> own, Beliefs beliefs, Supplier<Members> members) {}

    public AccessDesk(Terms terms, Place place, Launcher launcher, Records records, Tally tally) {
        this.terms = terms;
        this.place = place;
        this.launcher = launcher;
        this.records = event -> {
            records.append(event);
            ExportRecords.sent(event).ifPresent(tally::exported);
        };
        this.tally = tally;
        this.strangers = new Strangers(() -> tally.refused(Tally.CIRCUIT));
        this.open = new OpenCircuits(
                terms.beliefs(),
                looking,
                ended -> LOG.warn(
                        "{}: circuit ended: {}",
                        ended.what().terms().from(),
                        ended.refusal().getMessage()));
    }

    /** Whether this is a name of the kind that comes here. */
    public static boolean isPerson(Name name) {
        return Role.of(name.role()).filter(ROLES::contains).isPresent();
    }

    /** Somebody calls. On the link's event loop. */
    public void dialled(Attachment attachment, RelayMessage.Dial dial) {
        if (!isPerson(dial.from())) {
            if (strangers.another()) {
                LOG.warn("{}: neither a member nor an exporter; {}", dial.from(), strangers);
            }
            attachment.refuse(dial, CloseReason.REFUSED);
            return;
        }
        Circuit.dialBack(attachment.link(), dial, terms.own().get(), trust(), this::install)
                .addListener((Future<Circuit> opened) -> {
                    if (!opened.isSuccess() && strangers.another()) {
                        LOG.warn(
                                "{}: no circuit: {}; {}",
                                dial.from(),
                                opened.cause().getMessage(),
                                strangers);
                    }
                });
    }

    Trust trust() {
        return Trust.in(terms.beliefs(), ROLES);
    }

    /** Answers in a circuit that is open. */
    void install(ChannelPipeline pipeline, Circuit circuit) {
        open.add(circuit);
        Name person = circuit.peer().name();
        Optional<Member> member = terms.members().get().ofPerson(person.id());
        if (member.isEmpty()) {
            refuse(
                    circuit,
                    AccessAnswer.Refused.MEMBER,
                    "the project's list of members has no login for " + person.id() + "; ask an owner to enter it");
            return;
        }
        Optional<Long> number = enter(person.id());
        if (number.isEmpty()) {
            refuse(
                    circuit,
                    AccessAnswer.Refused.SESSIONS,
                    "want at most " + SESSIONS_OF_ONE + " sessions of a person and " + SESSIONS
                            + " in all, have as many; end one");
            return;
        }
        Session session = new Session(
                place,
                new Session.Who(
                        number.get(),
                        person,
                        Role.of(person.role()).orElseThrow(),
                        member.get(),
                        circuit.peer().key().id(),
                        SshKey.of(circuit.peer().key())),
                records,
                threads);
        CompletableFuture<Splice> begun = new CompletableFuture<>();
        // Not before all of it is there that is to be ended.
        Splice splice =
                new Splice(circuit, threads, () -> begun.thenAcceptAsync(passing -> end(session, passing), threads));
        pipeline.addLast(splice);
        circuits.add(circuit);
        circuit.channel().closeFuture().addListener(closed -> circuits.remove(circuit));
        threads.execute(() -> {
            begin(session, circuit, splice);
            begun.complete(splice);
        });
    }

    private synchronized Optional<Long> enter(String person) {
        if (sessions() >= SESSIONS || sessions.getOrDefault(person, 0) >= SESSIONS_OF_ONE) {
            return Optional.empty();
        }
        sessions.merge(person, 1, Integer::sum);
        tally.begun();
        return Optional.of(++last);
    }

    private synchronized void leave(String person) {
        sessions.computeIfPresent(person, (id, count) -> count > 1 ? count - 1 : null);
        tally.ended();
        notifyAll();
    }

    private void begin(Session session, Circuit circuit, Splice splice) {
        try {
            Launcher.Ends ends = session.begin(launcher);
            circuit.channel().eventLoop().execute(() -> {
                circuit.channel()
                        .writeAndFlush(Framing.frame(new AccessAnswer.Granted(
                                        place.hostKey().key(),
                                        session.who().member().login())
                                .wire()));
                splice.begin(ends.out(), ends.in());
            });
            LOG.info("{} begun", session.who());
        } catch (Export.Unrecorded e) {
            LOG.error("{}: {}", session.who(), e.getMessage());
            circuit.channel()
                    .eventLoop()
                    .execute(() -> refuse(
                            circuit,
                            AccessAnswer.Refused.RECORD,
                            "nothing goes out of the project while that cannot be recorded; ask an owner to look at the"
                                    + " controlling VM's disk"));
        } catch (IOException | RuntimeException e) {
            LOG.error("{}: no sshd: {}", session.who(), e.toString());
            circuit.channel()
                    .eventLoop()
                    .execute(() -> refuse(
                            circuit,
                            AccessAnswer.Refused.TROUBLE,
                            "the controlling VM cannot start a session; its log says why"));
        }
    }

    private void refuse(Circuit circuit, String word, String text) {
        tally.refused(word);
        LOG.warn("{}: refused: {}", circuit.terms().from(), word);
        circuit.channel().writeAndFlush(Framing.frame(new AccessAnswer.Refused(word, text).wire()));
        circuit.endOutput();
    }

    private void end(Session session, Splice splice) {
        try {
            session.end(() -> splice.circuit().channel().eventLoop().execute(splice::release));
            LOG.info("{} ended", session.who());
        } catch (IOException e) {
            LOG.error("{}: not ended in good order: {}", session.who(), e.getMessage());
        } finally {
            leave(session.who().person().id());
        }
    }

    /** How many sessions there are. */
    synchronized int sessions() {
        return sessions.values().stream().mapToInt(each -> each).sum();
    }

    /** All sessions end, in bounded time. Nobody may be let in any more. */
    @Override
    public void close() {
        open.close();
        looking.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        circuits.forEach(circuit -> circuit.end(CloseReason.DRAINING));
        try {
            awaitEnds();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (sessions() > 0) {
            LOG.warn("sessions: {} have not ended", sessions());
        }
        threads.shutdownNow();
    }

    private synchronized void awaitEnds() throws InterruptedException {
        long untilNs = System.nanoTime() + ENDING.toNanos();
        for (long leftNs = ENDING.toNanos(); sessions() > 0 && leftNs > 0; leftNs = untilNs - System.nanoTime()) {
            TimeUnit.NANOSECONDS.timedWait(this, leftNs);
        }
    }
}
