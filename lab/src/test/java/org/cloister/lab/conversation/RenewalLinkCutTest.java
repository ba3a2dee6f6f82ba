package org.cloister.lab.conversation;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.cloister.ctl.authority.EnrolmentFileStore;
import org.cloister.ctl.authority.EnrolmentState;
import org.cloister.lab.SampledScenario;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.relay.links.RelayFixture;
import org.cloister.relay.links.TestAgent;
import org.cloister.relay.links.TestSite;
import org.cloister.transport.link.RecordCuttingProxy;
import org.cloister.transport.link.RecordCuttingProxy.From;
import org.cloister.transport.link.RenewalClient;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A host, the relay and the site's desk, each as it is: each of the four messages of a renewal is lost once with its link, and the
 * host has its next certificate in the end.
 */
@Tag("boundary")
@SampledScenario(value = 2, cases = 3)
@Timeout(180)
class RenewalLinkCutTest {
    /** Half of it is over some seconds after it is issued, for it begins two minutes before. */
    private static final Duration HALF_SOON = Duration.ofSeconds(140);

    private static final Duration QUIET = Duration.ofSeconds(1);

    /** A lost message, and how many certificates the authority issues until one arrives. */
    private enum LostMessage {
        RENEW(From.AGENT, 1),
        AFTER_REQUEST(From.RELAY, 1),
        ANSWERED(From.AGENT, 2),
        RENEWED(From.RELAY, 2);

        private final From from;
        private final int certified;

        LostMessage(From from, int certified) {
            this.from = from;
            this.certified = certified;
        }

        boolean isOfDesk() {
            return this == AFTER_REQUEST || this == ANSWERED;
        }
    }

    @TempDir
    private Path folder = Path.of("");

    @Test
    void each_message_of_a_renewal_may_be_lost_once() throws Exception {
        // A lost renewal is asked for again after half a minute: the four wait side by side.
        ExecutorService threads = Executors.newFixedThreadPool(LostMessage.values().length);
        try {
            List<CompletableFuture<Void>> all = Arrays.stream(LostMessage.values())
                    .map(lost -> CompletableFuture.runAsync(() -> renewed(lost), threads))
                    .toList();
            for (CompletableFuture<Void> each : all) {
                each.get(150, TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private void renewed(LostMessage lost) {
        try {
            renewedOrThrow(lost);
        } catch (Exception e) {
            throw new AssertionError(lost.toString(), e);
        }
    }

    private void renewedOrThrow(LostMessage lost) throws Exception {
        Path own = Files.createDirectory(folder.resolve(lost.toString()));
        Path enrolments = Files.createDirectory(own.resolve("enrolments"));
        KeyPair key = TestSite.pair(SignatureCurve.P256);
        TestRegistrationAuthority.enrol(enrolments, RelayFixture.HOST, key);
        try (RelayFixture relays = new RelayFixture(Files.createDirectory(own.resolve("state")));
                RecordCuttingProxy ofHost = new RecordCuttingProxy(relays.relay.address());
                RecordCuttingProxy authorityProxy = new RecordCuttingProxy(relays.relay.address());
                TestRegistrationAuthority authority =
                        new TestRegistrationAuthority(relays, enrolments, authorityProxy.address())) {
            RenewalClient renewal = new RenewalClient(
                    relays.site.credential(RelayFixture.HOST, key, HALF_SOON),
                    relays.site.anchors(),
                    fresh -> {},
                    new WithoutDelay());
            try (TestAgent host = new TestAgent(relays, renewal, ofHost.address())) {
                host.attachment();
                while (!relays.relay.renewals().hasAuthority()) {
                    Thread.sleep(10);
                }
                awaitQuiet(ofHost);
                awaitQuiet(authorityProxy);
                RecordCuttingProxy wire = lost.isOfDesk() ? authorityProxy : ofHost;
                wire.arm(lost.from, 0);
                Instant until = TestAgent.require(
                        host.renewals.poll(120, TimeUnit.SECONDS),
                        lost + ": no renewal; refused: " + host.refusals + ", lost: " + host.losses);
                assertThat(wire.hasCut()).as("%s: the link was cut", lost).isTrue();
                assertThat(until).isAfter(Instant.now().plus(Duration.ofHours(23)));
                assertThat(authority.certified)
                        .as("%s: certificates made", lost)
                        .hasValue(lost.certified);
                assertThat(new EnrolmentFileStore(enrolments).find(RelayFixture.HOST))
                        .as("%s: who asks twice is no alarm", lost)
                        .containsInstanceOf(EnrolmentState.Used.class);
                assertThat(VerificationKey.of(renewal.get().chain().get(0).getPublicKey()))
                        .isEqualTo(VerificationKey.of(key.getPublic()));
            }
        }
    }

    /** What follows on an attach stream has come. */
    private static void awaitQuiet(RecordCuttingProxy wire) throws InterruptedException {
        do {
            wire.count();
            Thread.sleep(QUIET.toMillis());
        } while (wire.records(From.AGENT) + wire.records(From.RELAY) > 0);
    }

    /** Renewal schedule without delay: no host waits for others here. */
    private static final class WithoutDelay extends Random {
        private static final long serialVersionUID = 1;

        @Override
        public double nextDouble() {
            return 0;
        }
    }
}
