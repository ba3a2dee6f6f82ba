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
import org.cloister.host.tickets.ClaimResponseVerifier;
import org.cloister.host.tickets.EpochStore;
import org.cloister.host.tickets.TicketClaims;
import org.cloister.host.tickets.VerifiedClaim;
import org.cloister.lab.Lab;
import org.cloister.lab.Poll;
import org.cloister.lab.relay.RelaySiteFiles;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketRefusedException;
import org.cloister.protocol.ticket.TicketState;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Claims of tickets by a host, with the relay as a process and the real Slurm. */
@Tag("scenario")
@Tag("host")
@Timeout(180)
@ExtendWith(SharedLab.class)
@SuppressWarnings("NullAway.Init") // set before all
class ClaimsTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final CertificateName HOST = RelaySiteFiles.NODES.get(0);
    private static final String PART = "application/vnd.in-toto+json";

    @TempDir
    private static Path folder;

    private static final Set<String> USED = ConcurrentHashMap.newKeySet();
    private static final AtomicInteger HEADS = new AtomicInteger();

    private static RelayTicketFixture stage;
    private static SigningKey key;
    private static EpochStore epochs;
    private static TicketClaims claims;

    @BeforeAll
    static void setUp(Lab lab) throws Exception {
        stage = new RelayTicketFixture(lab, folder);
        key = ScriptedTicketHost.key(stage.site.credential(HOST));
        epochs = EpochStore.open(folder.resolve("epochs"));
        claims = claims(LIMIT);
        stage.share(HOST, claims::attached);
        awaitStream();
    }

    @AfterAll
    static void tearDown() throws IOException {
        claims.close();
        stage.close();
        stage.lab.slurm().client("scancel", "--user=root");
        stage.lab.slurm().awaitIdle();
    }

    private static TicketClaims claims(Duration timeout) throws IOException {
        return claims(timeout, epochs);
    }

    /** Of a host that knows its site and no project. */
    private static TicketClaims claims(Duration timeout, EpochStore epochs) throws IOException {
        TrustStore trustStore = stage.site.beliefs();
        trustStore.replaceAnchors(trustStore.anchors().withoutProject(project()));
        ClaimResponseVerifier reader =
                new ClaimResponseVerifier(key.verificationKey(), trustStore, epochs, USED::contains);
        return new TicketClaims(reader, (head, relay) -> HEADS.incrementAndGet(), timeout);
    }

    private static String project() {
        return stage.site.controller().project();
    }

    private static void awaitStream() throws IOException {
        Poll.until("a stream of tickets", LIMIT, "read the relay's log", claims::isConnected);
    }

    /** Of both nodes, and it runs. */
    private static String running() throws Exception {
        String ticket = stage.vm.order(ScriptedControllerVm.nodes(2));
        stage.awaitSteps(ticket, 2);
        stage.vm.await(ticket, TicketState.RUNNING);
        return ticket;
    }

    private static long job(String ticket) throws IOException {
        return stage.vm.await(ticket, TicketState.RUNNING).job();
    }

    private static void over(String ticket) throws IOException {
        stage.steps.finish(ticket, 0);
        assertThat(stage.vm.awaitEnd(ticket)).isEqualTo(TicketEnd.COMPLETED);
    }

    private static TicketRefusedException refused(TicketClaims of, String ticket, long job) {
        TicketRefusedException refused =
                catchThrowableOfType(TicketRefusedException.class, () -> of.claim(ticket, job));
        assertThat(refused).isNotNull();
        return refused;
    }

    @Test
    void a_claim_is_given_the_hosts_slot_as_often_as_it_asks_and_its_part_arrives() throws Exception {
        String ticket = running();
        int heads = HEADS.get();
        VerifiedClaim assigned = claims.claim(ticket, job(ticket));
        assertThat(assigned.slot().host()).isEqualTo(HOST);
        assertThat(assigned.slot().key()).isEqualTo(key.verificationKey());
        assertThat(assigned.signed().id()).isEqualTo(ticket);
        assertThat(assigned.signed().signer().name()).isEqualTo(stage.site.controller());
        assertThat(assigned.signed().request().nodes()).isEqualTo(2);
        assertThat(HEADS.get()).isGreaterThan(heads);
        assertThat(EpochStore.open(folder.resolve("epochs")).ticketEpoch(project()))
                .isEqualTo(1);
        assertThat(Files.readString(folder.resolve("epochs")))
                .as("epochs of tickets and openings, document, approval and list that it was shown")
                .matches(project() + " 1 0 0 " + project() + " 1 [a-z2-7]{52}:1\n");
        assertThat(claims.claim(ticket, job(ticket)).slot()).isEqualTo(assigned.slot());
        byte[] part = DsseEnvelope.sign(PART, "{\"x\":1}".getBytes(StandardCharsets.UTF_8), key)
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
            try (TicketClaims strict = claims(LIMIT, EpochStore.open(file))) {
                stage.share(HOST, strict::attached);
                Poll.until("a stream of tickets", LIMIT, "read the relay's log", strict::isConnected);
                TicketRefusedException refused = refused(strict, ticket, job);
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
        Poll.until("the stream's end", LIMIT, "look at the test", () -> !claims.isConnected());
        CompletableFuture<VerifiedClaim> claim = CompletableFuture.supplyAsync(() -> {
            try {
                return claims.claim(ticket, job);
            } catch (IOException | InterruptedException e) {
                throw new CompletionException(e);
            }
        });
        try (TicketClaims impatient = claims(Duration.ofMillis(200))) {
            TicketRefusedException refused = refused(impatient, ticket, job);
            assertThat(refused.clause()).isEqualTo(TicketClause.UNAVAILABLE);
            assertThat(refused).hasMessageContaining("have no relay");
        }
        stage.startRelay();
        assertThat(claim.get(LIMIT.toSeconds(), TimeUnit.SECONDS).slot().host()).isEqualTo(HOST);
        over(ticket);
    }
}
