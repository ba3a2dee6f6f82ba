package org.cloister.relay;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.RenewalRequest;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.link.AgentMessage;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.DeskCredential;
import org.cloister.protocol.link.LinkLimits;
import org.cloister.protocol.link.PemCredential;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.link.Renewal;
import org.cloister.protocol.link.RenewalOutcome;
import org.cloister.protocol.link.Trust;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Certificates of 24 hours that nobody carries: hosts, a relay and the site's desk over loopback. */
@Timeout(60)
@SuppressWarnings("NullAway") // what is missing shows as a failed test
class RenewalsTest {
    /** More than half of it is over at once: a certificate begins two minutes before it is issued. */
    private static final Duration SHORT = Duration.ofSeconds(55);

    private static final Duration DAY = Duration.ofHours(23);

    @TempDir
    private Path folder;

    private Path enrolments;
    private Cast cast;
    private final List<AutoCloseable> open = new ArrayList<>();

    @BeforeEach
    void start() throws Exception {
        enrolments = Files.createDirectory(folder.resolve("enrolments"));
        cast = new Cast(Files.createDirectory(folder.resolve("state")));
    }

    @AfterEach
    void stop() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        cast.close();
    }

    private Desk desk() throws IOException {
        Desk desk = new Desk(cast, enrolments);
        open.add(desk);
        return desk;
    }

    private KeyPair enrolled(Name name) throws Exception {
        KeyPair key = Site.pair(Curve.P256);
        Desk.enrol(enrolments, name, key);
        return key;
    }

    private Renewal renewal(Name name, KeyPair key, Renewal.Keeper keeper) throws Exception {
        return new Renewal(cast.site.credential(name, key, SHORT), cast.site.anchors(), keeper, new Random(1));
    }

    private Agent host(Renewal renewal) {
        Agent host = new Agent(cast, renewal, cast.relay.address());
        open.add(host);
        return host;
    }

    private static <T> T next(java.util.concurrent.BlockingQueue<T> queue, String what) throws InterruptedException {
        return Agent.require(queue.poll(30, TimeUnit.SECONDS), what);
    }

    private RelayLink link(Name peer) {
        return cast.relay.registry().links().stream()
                .filter(each -> each.peer.equals(peer))
                .findFirst()
                .orElseThrow();
    }

    private static ByteString request(Name name, KeyPair key) throws Exception {
        return ByteString.copyFrom(RenewalRequest.make(name, SigningKey.of(key)));
    }

    private RenewalOutcome ask(RawAgent agent, ByteString request) throws InterruptedException {
        agent.say(new AgentMessage.Renew(request));
        return agent.hear(RelayMessage.Renewed.class).outcome();
    }

    private void awaitDesk() {
        await(() -> cast.relay.renewals().hasDesk());
    }

    private static void await(java.util.function.BooleanSupplier condition) {
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - endNs).as("patience").isNegative();
            Thread.onSpinWait();
        }
    }

    @Test
    void a_hosts_certificate_is_renewed_kept_and_shown_in_its_next_handshake() throws Exception {
        Path file = folder.resolve("host.pem");
        Renewal renewal = renewal(Cast.HOST, enrolled(Cast.HOST), fresh -> PemCredential.replace(file, List.of(fresh)));
        desk();
        awaitDesk();
        Agent host = host(renewal);
        host.attachment();
        assertThat(next(host.renewals, "renewal; refused: " + host.refusals))
                .isAfter(Instant.now().plus(DAY));
        assertThat(PemCredential.certificates(file)).isEqualTo(renewal.get().chain());
        link(Cast.HOST).close().sync();
        host.attachment();
        assertThat(link(Cast.HOST).identity.serial())
                .isEqualTo(renewal.get().chain().get(0).getSerialNumber());
    }

    @Test
    void a_desk_that_was_away_is_asked_again_when_it_is_back() throws Exception {
        Agent host = host(renewal(Cast.HOST, enrolled(Cast.HOST), fresh -> {}));
        assertThat(next(host.refusals, "refusal")).endsWith("refused (no-desk)");
        desk();
        assertThat(next(host.renewals, "renewal; refused: " + host.refusals))
                .isAfter(Instant.now().plus(DAY));
    }

    @Test
    void a_revoked_host_is_ended_by_the_desks_list_and_gets_no_certificate() throws Exception {
        KeyPair key = enrolled(Cast.HOST);
        Renewal renewal = renewal(Cast.HOST, key, fresh -> {});
        Desk desk = desk();
        awaitDesk();
        Agent host = host(renewal);
        next(host.renewals, "renewal");
        link(Cast.HOST).close().sync();
        next(host.losses, "loss");
        host.attachment();
        RawAgent other = new RawAgent(cast, cast.credential(Cast.HOST));
        desk.revoke(Cast.HOST);
        assertThat(next(host.losses, "end of the revoked link")).isNotNull();
        assertThat(ask(other, request(Cast.HOST, key)).refused()).isEqualTo("revoked");
    }

    @Test
    void the_desks_list_reaches_the_relay_and_who_is_attached() throws Exception {
        Agent host = cast.agent(Cast.HOST);
        open.add(host);
        host.attachment();
        host.revocations.clear();
        desk();
        byte[] brought = next(host.revocations, "list").toByteArray();
        assertThat(RevocationList.read(brought, List.of(cast.site.authority.key()))
                        .number())
                .isEqualTo(2);
    }

    @Test
    void nobody_gets_a_certificate_for_another_key_or_name() throws Exception {
        KeyPair key = enrolled(Cast.HOST);
        enrolled(Cast.OTHER_HOST);
        Desk desk = desk();
        awaitDesk();
        KeyPair thief = Site.pair(Curve.P256);
        RawAgent first = new RawAgent(cast, cast.site.credential(Cast.HOST, key, SHORT));
        assertThat(ask(first, request(Cast.OTHER_HOST, key)).refused()).isEqualTo("name");
        assertThat(desk.certified.get()).isZero();
        RawAgent second = new RawAgent(cast, cast.site.credential(Cast.HOST, thief, SHORT));
        assertThat(ask(second, request(Cast.HOST, thief)).refused()).isEqualTo("proof");
        RawAgent third = new RawAgent(cast, cast.site.credential(Cast.HOST, key, SHORT));
        assertThat(ask(third, ByteString.copyFromUtf8("{}")).refused()).isEqualTo("malformed");
        RawAgent person = new RawAgent(cast, cast.credential(cast.device));
        assertThat(ask(person, request(Cast.HOST, key)).refused()).isEqualTo("not-allowed");
        RawAgent nobody = new RawAgent(cast, cast.credential(new Name("n9", "host", "site")));
        assertThat(ask(nobody, request(new Name("n9", "host", "site"), thief)).refused())
                .isEqualTo("unknown");
    }

    @Test
    void a_flood_of_requests_is_one_for_the_desk_and_ends_at_the_limit() throws Exception {
        KeyPair key = enrolled(Cast.HOST);
        Desk desk = desk();
        awaitDesk();
        RawAgent host = new RawAgent(cast, cast.site.credential(Cast.HOST, key, SHORT));
        ByteString request = request(Cast.HOST, key);
        int limited = 0;
        int granted = 0;
        for (int i = 0; i < 40; i++) {
            host.say(new AgentMessage.Renew(request));
        }
        for (int i = 0; i < 40; i++) {
            RenewalOutcome outcome = host.hear(RelayMessage.Renewed.class).outcome();
            granted += outcome.isGranted() ? 1 : 0;
            limited += outcome.refused().equals(RenewalOutcome.LIMIT) ? 1 : 0;
        }
        assertThat(granted).isEqualTo(1);
        assertThat(limited).isEqualTo(39);
        assertThat(desk.certified.get()).isEqualTo(1);
    }

    @Test
    void who_is_no_desk_neither_answers_nor_delivers() throws Exception {
        for (AgentMessage message : List.of(
                new AgentMessage.RenewalAnswered(1, RenewalOutcome.refused(RenewalOutcome.FAILED)),
                new AgentMessage.DeliverRevocations(ByteString.copyFromUtf8("list")))) {
            RawAgent host = new RawAgent(cast, cast.credential(Cast.HOST));
            host.say(message);
            assertThat(host.link.ended().await(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void a_desk_that_says_nothing_costs_30_s_and_one_that_is_not_asked_nothing() throws Exception {
        RawAgent asked = new RawAgent(cast, cast.credential(DeskCredential.NAME));
        awaitDesk();
        EmbeddedChannel clock = new EmbeddedChannel();
        clock.freezeTime();
        List<RenewalOutcome> outcomes = new ArrayList<>();
        ByteString request = ByteString.copyFromUtf8("request");
        for (int i = 0; i <= LinkLimits.RENEWALS; i++) {
            cast.relay.renewals().ask(Cast.HOST, request, clock.eventLoop(), outcomes::add);
        }
        assertThat(outcomes).as("all but one wait").containsExactly(RenewalOutcome.refused(RenewalOutcome.LIMIT));
        RelayMessage.RenewalAsked first = asked.hear(RelayMessage.RenewalAsked.class);
        assertThat(first.from()).isEqualTo(Cast.HOST);
        RawAgent another = new RawAgent(cast, cast.credential(DeskCredential.NAME));
        another.say(new AgentMessage.RenewalAnswered(first.id(), RenewalOutcome.granted(new byte[] {1})));
        another.say(new AgentMessage.Serve(Cast.HOST));
        another.hear(RelayMessage.Served.class);
        assertThat(outcomes).hasSize(1);
        clock.advanceTimeBy(LinkLimits.RENEWAL_TIME.toMillis() - 1, TimeUnit.MILLISECONDS);
        clock.runScheduledPendingTasks();
        assertThat(outcomes).hasSize(1);
        clock.advanceTimeBy(1, TimeUnit.MILLISECONDS);
        clock.runScheduledPendingTasks();
        assertThat(outcomes).hasSize(1 + LinkLimits.RENEWALS).endsWith(RenewalOutcome.refused("no-answer"));
        asked.say(new AgentMessage.RenewalAnswered(first.id(), RenewalOutcome.granted(new byte[] {1})));
        asked.say(new AgentMessage.Serve(Cast.HOST));
        asked.hear(RelayMessage.Served.class);
        assertThat(outcomes).as("an answer that is late").hasSize(1 + LinkLimits.RENEWALS);
    }

    @Test
    void the_relay_renews_its_own_certificate_and_shows_it_without_a_restart() throws Exception {
        Renewal renewal = renewal(Cast.RELAY, enrolled(Cast.RELAY), fresh -> {});
        cast.kill();
        cast.relayOwn = renewal;
        cast.relay = cast.serve(0, RelayLimits.DEFAULT);
        X509Certificate old = renewal.get().chain().get(0);
        open.add(new OwnRenewal(renewal, cast.relay, cast.loops.next()));
        desk();
        await(() -> !renewal.get().chain().get(0).equals(old));
        List<X509Certificate> shown = new ArrayList<>();
        Credential device = cast.credential(cast.device);
        Cast.get(org.cloister.protocol.link.Link.dial(cast.loops, cast.relay.address(), device, chain -> {
            shown.add(chain.get(0));
            return Trust.inRelays(cast.beliefs).verify(chain);
        }));
        assertThat(shown).containsExactly(renewal.get().chain().get(0));
    }
}
