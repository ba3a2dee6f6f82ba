package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.cloister.host.ticket.Assigned;
import org.cloister.host.ticket.ClaimReader;
import org.cloister.host.ticket.Claims;
import org.cloister.host.ticket.EpochBook;
import org.cloister.lab.Lab;
import org.cloister.lab.Poll;
import org.cloister.lab.relay.RelaySite;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketRefused;
import org.cloister.protocol.ticket.TicketState;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** What a host says and hears of tickets, at the relay as a process before the real Slurm. */
@Tag("scenario")
@Tag("host")
@Timeout(180)
@ExtendWith(SharedLab.class)
@SuppressWarnings("NullAway.Init") // set before all
class ClaimsTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Name HOST = RelaySite.NODES.get(0);
    private static final String PART = "application/vnd.in-toto+json";

    @TempDir
    private static Path folder;

    private static final Set<String> USED = ConcurrentHashMap.newKeySet();
    private static final AtomicInteger HEADS = new AtomicInteger();

    private static TicketStage stage;
    private static SigningKey key;
    private static EpochBook epochs;
    private static Claims claims;

    @BeforeAll
    static void begin(Lab lab) throws Exception {
        stage = new TicketStage(lab, folder);
        key = TicketHost.key(stage.site.credential(HOST));
        epochs = EpochBook.open(folder.resolve("epochs"));
        claims = claims(LIMIT);
        stage.share(HOST, claims::attached);
        awaitStream();
    }

    @AfterAll
    static void end() throws IOException {
        claims.close();
        stage.close();
        stage.lab.slurm().client("scancel", "--user=root");
        stage.lab.slurm().awaitIdle();
    }

    private static Claims claims(Duration patience) throws IOException {
        return claims(patience, epochs);
    }

    /** Of a host that knows its site and no project. */
    private static Claims claims(Duration patience, EpochBook book) throws IOException {
        Beliefs beliefs = stage.site.beliefs();
        beliefs.believe(beliefs.anchors().withoutProject(project()));
        ClaimReader reader = new ClaimReader(key.verificationKey(), beliefs, book, USED::contains);
        return new Claims(reader, (head, relay) -> HEADS.incrementAndGet(), patience);
    }

    private static String project() {
        return stage.site.controller().project();
    }

    private static void awaitStream() throws IOException {
        Poll.until("a stream of tickets", LIMIT, "read the relay's log", claims::isThere);
    }

    /** Of both nodes, and it runs. */
    private static String running() throws Exception {
        String ticket = stage.vm.order(TicketVm.nodes(2));
        stage.awaitSteps(ticket, 2);
        stage.vm.await(ticket, TicketState.RUNNING);
        return ticket;
    }

    private static long job(String ticket) throws IOException {
        return stage.vm.await(ticket, TicketState.RUNNING).job();
    }

    private static void over(String ticket) throws IOException {
        stage.steps.end(ticket, 0);
        assertThat(stage.vm.awaitEnd(ticket)).isEqualTo(TicketEnd.COMPLETED);
    }

    private static TicketRefused refused(Claims of, String ticket, long job) {
        TicketRefused refused = catchThrowableOfType(TicketRefused.class, () -> of.claim(ticket, job));
        assertThat(refused).isNotNull();
        return refused;
    }

    @Test
    void a_claim_is_given_the_hosts_slot_as_often_as_it_asks_and_its_part_arrives() throws Exception {
        String ticket = running();
        int heads = HEADS.get();
        Assigned assigned = claims.claim(ticket, job(ticket));
        assertThat(assigned.slot().host()).isEqualTo(HOST);
        assertThat(assigned.slot().key()).isEqualTo(key.verificationKey());
        assertThat(assigned.signed().id()).isEqualTo(ticket);
        assertThat(assigned.signed().signer().name()).isEqualTo(stage.site.controller());
        assertThat(assigned.signed().request().nodes()).isEqualTo(2);
        assertThat(HEADS.get()).isGreaterThan(heads);
        assertThat(EpochBook.open(folder.resolve("epochs")).of(project())).isEqualTo(1);
        assertThat(Files.readString(folder.resolve("epochs")))
                .as("epochs of tickets and openings, document, approval and list that it was shown")
                .matches(project() + " 1 0 0 " + project() + " 1 [a-z2-7]{52}:1\n");
        assertThat(claims.claim(ticket, job(ticket)).slot()).isEqualTo(assigned.slot());
        byte[] part = Envelope.sign(PART, "{\"x\":1}".getBytes(StandardCharsets.UTF_8), key)
                .bytes();
        claims.report(ticket, assigned.slot().slot(), part).get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        Poll.until(
                "the host's part",
                LIMIT,
                "read the relay's log",
                () -> stage.vm.parts(ticket).contains(assigned.slot().slot()));
        over(ticket);
    }

    @Test
    void refusals_say_by_which_clause() throws Exception {
        String ticket = running();
        long job = job(ticket);
        assertThat(refused(claims, ticket, job + 1).clause()).isEqualTo(TicketClause.PROJECT);
        assertThat(refused(claims, "a".repeat(26), job).clause()).isEqualTo(TicketClause.PROJECT);
        USED.add(ticket);
        assertThat(refused(claims, ticket, job).clause()).isEqualTo(TicketClause.USED);
        over(ticket);
        assertThat(refused(claims, ticket, job).clause()).isEqualTo(TicketClause.USED);
    }

    /** As one whose relay was restored from an old backup. */
    @Test
    void a_host_that_has_seen_newer_papers_of_a_project_than_its_relay_has_starts_nothing() throws Exception {
        String ticket = running();
        long job = job(ticket);
        claims.claim(ticket, job);
        String seen = Files.readString(folder.resolve("epochs"));
        String approval =
                seen.replace(project() + " 1 0 0 " + project() + " 1 ", project() + " 1 0 0 " + project() + " 2 ");
        String list = seen.replaceFirst(":1\n$", ":2\n");
        for (String newer : List.of(approval, list)) {
            assertThat(newer).isNotEqualTo(seen);
            Path file = Files.writeString(folder.resolve("newer"), newer);
            try (Claims strict = claims(LIMIT, EpochBook.open(file))) {
                stage.share(HOST, strict::attached);
                Poll.until("a stream of tickets", LIMIT, "read the relay's log", strict::isThere);
                TicketRefused refused = refused(strict, ticket, job);
                assertThat(refused.clause()).isEqualTo(TicketClause.SEQUENCE);
                assertThat(refused).hasMessageContaining("agentctl relay deliver");
            }
            assertThat(Files.readString(file)).isEqualTo(newer);
        }
        stage.share(HOST, claims::attached);
        over(ticket);
    }

    @Test
    void a_claim_outlasts_the_relay_and_is_unavailable_when_none_comes_back() throws Exception {
        String ticket = running();
        long job = job(ticket);
        stage.killRelay();
        Poll.until("the stream's end", LIMIT, "look at the test", () -> !claims.isThere());
        CompletableFuture<Assigned> asked = CompletableFuture.supplyAsync(() -> {
            try {
                return claims.claim(ticket, job);
            } catch (IOException | InterruptedException e) {
                throw new CompletionException(e);
            }
        });
        try (Claims impatient = claims(Duration.ofMillis(200))) {
            TicketRefused refused = refused(impatient, ticket, job);
            assertThat(refused.clause()).isEqualTo(TicketClause.UNAVAILABLE);
            assertThat(refused).hasMessageContaining("have no relay");
        }
        stage.startRelay();
        assertThat(asked.get(LIMIT.toSeconds(), TimeUnit.SECONDS).slot().host()).isEqualTo(HOST);
        over(ticket);
    }
}
