package org.cloister.vm.ticket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Authority;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.CertificateRequest;
import org.cloister.protocol.identity.EnrolmentDesk;
import org.cloister.protocol.identity.EnrolmentFiles;
import org.cloister.protocol.identity.EnrolmentRequest;
import org.cloister.protocol.identity.EnrolmentToken;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.SubjectKey;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.TicketWorld;
import org.cloister.protocol.ticket.TicketWorld.Party;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whose nodes a controlling VM takes, and until when. */
class SiteTest {
    private static final Instant NOW = TicketWorld.NOW.plusSeconds(60);

    private final TicketWorld world = new TicketWorld();
    private Instant now = NOW;
    private final Beliefs beliefs = new Beliefs(
            Anchors.none().withProject(world.project).withSite(List.of(world.siteKey.verificationKey())),
            RevocationLists.none(),
            () -> now);
    private final Site site = new Site(beliefs);
    private final VerificationKey host = world.hosts.get(0).key().verificationKey();

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    SiteTest() throws Exception {}

    private void list(int number, Party... revoked) throws Exception {
        List<Authority.Revocation> all = new java.util.ArrayList<>();
        for (Party each : revoked) {
            X509Certificate leaf = (X509Certificate) CertificateFactory.getInstance("X.509")
                    .generateCertificate(new ByteArrayInputStream(each.chain().get(0)));
            all.add(new Authority.Revocation(leaf.getSerialNumber(), now));
        }
        beliefs.take(world.site.revoke(all, BigInteger.valueOf(number), now, Duration.ofHours(24)));
    }

    private static OfficeMessage.Welcome welcome(Party relay) {
        return new OfficeMessage.Welcome(
                ByteString.EMPTY,
                relay.chain().stream().map(ByteString::copyFrom).toList());
    }

    private byte[] allocation(SigningKey signer) throws Exception {
        return world.allocation(world.ticket(world.request()), world.slots())
                .sign(signer)
                .bytes();
    }

    private void refuses(byte[] allocation, String why) {
        assertThatThrownBy(() -> site.open(allocation))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(why);
        assertThat(site.isRevoked(host)).isTrue();
    }

    @Test
    void a_relay_of_the_site_gives_nodes_and_its_hosts_hold_as_long_as_it_does() throws Exception {
        list(1);
        assertThat(site.isRevoked(host)).as("nobody has given it").isTrue();
        assertThat(site.welcomed(welcome(world.relay)))
                .as("half of what its certificate has left")
                .isEqualTo(Duration.between(NOW, TicketWorld.NOW.plus(TicketWorld.DAY))
                        .dividedBy(2));
        Allocation given = site.open(allocation(world.relay.key()));
        assertThat(given.slots()).hasSize(2);
        assertThat(site.isRevoked(host)).isFalse();
        list(2, world.relay);
        assertThat(site.isRevoked(host)).isTrue();
        refuses(allocation(world.relay.key()), "revoked");
    }

    private void takeBackHost(int number) throws Exception {
        EnrolmentDesk desk = new EnrolmentDesk(world.site, new EnrolmentFiles(folder));
        Name name = world.hosts.get(0).name();
        EnrolmentToken.Made token = EnrolmentToken.make(new SecureRandom());
        desk.open(name, token.publicHalf(), now, Duration.ofHours(1));
        desk.answer(
                EnrolmentRequest.first(
                        CertificateRequest.make(name, world.hosts.get(0).key()), token.token()),
                now);
        desk.revoke(name, "stolen", now);
        // All its certificates have ended since.
        now = NOW.plus(Duration.ofDays(20));
        beliefs.take(desk.list(BigInteger.valueOf(number), now, Duration.ofHours(24)));
    }

    @Test
    void a_host_that_the_site_has_taken_back_is_known_by_its_key_whatever_its_certificates_were() throws Exception {
        list(1);
        site.welcomed(welcome(world.relay));
        site.open(allocation(world.relay.key()));
        assertThat(site.isTakenBack(host)).isFalse();
        takeBackHost(2);
        assertThat(site.isTakenBack(host)).isTrue();
        assertThat(site.isRevoked(host)).isTrue();
        assertThat(site.isTakenBack(world.hosts.get(1).key().verificationKey())).isFalse();
        now = now.plus(Duration.ofDays(2));
        assertThat(site.isTakenBack(host)).as("what was said stays said").isTrue();
        assertThat(site.isTakenBack(world.hosts.get(1).key().verificationKey()))
                .as("a list that has ended ends nobody")
                .isFalse();
        beliefs.believe(Anchors.none().withProject(world.project));
        assertThat(site.isTakenBack(host)).as("by nobody of the site").isFalse();
    }

    @Test
    void a_relay_that_has_not_shown_itself_gives_nothing() throws Exception {
        list(1);
        refuses(allocation(world.relay.key()), "have none yet");
        site.welcomed(new OfficeMessage.Welcome(ByteString.EMPTY, List.of()));
        refuses(allocation(world.relay.key()), "have none yet");
    }

    @Test
    void a_relay_of_another_site_gives_nothing() throws Exception {
        list(1);
        SigningKey other = TicketWorld.key(Curve.P256);
        Authority elsewhere = Authority.ofSite(
                SubjectKey.of(other.verificationKey()),
                other::sign,
                TicketWorld.NOW,
                Duration.ofDays(30),
                new SecureRandom());
        Party relay = TicketWorld.party(elsewhere, world.relay.name());
        assertThat(site.welcomed(welcome(relay))).isEqualTo(Duration.ofMinutes(1));
        refuses(allocation(relay.key()), "authority of site");
        refuses(allocation(world.relay.key()), "authority of site");
    }

    @Test
    void an_allocation_that_somebody_else_signed_is_none() throws Exception {
        list(1);
        site.welcomed(welcome(world.relay));
        refuses(allocation(world.hosts.get(0).key()), "signature");
        Party second = TicketWorld.party(world.site, new Name("r2", "relay", Name.SITE));
        site.welcomed(welcome(second));
        refuses(allocation(second.key()), "r2.relay");
    }

    @Test
    void a_host_of_the_site_gives_no_nodes() throws Exception {
        list(1);
        site.welcomed(welcome(world.hosts.get(0)));
        refuses(allocation(world.hosts.get(0).key()), "relay");
    }

    @Test
    void certificates_that_have_ended_give_nothing_and_newer_ones_do() throws Exception {
        list(1);
        site.welcomed(welcome(world.relay));
        now = TicketWorld.NOW.plus(TicketWorld.DAY).plusSeconds(1);
        list(2);
        refuses(allocation(world.relay.key()), "a time from");
        byte[] renewed = world.site.issue(
                world.relay.name(), SubjectKey.of(world.relay.key().verificationKey()), now, TicketWorld.DAY);
        site.welcomed(welcome(new Party(world.relay.name(), world.relay.key(), List.of(renewed))));
        assertThat(site.open(allocation(world.relay.key())).slots()).hasSize(2);
        assertThat(site.isRevoked(host)).isFalse();
    }

    @Test
    void without_a_list_of_the_sites_in_force_nobody_gives_anything() throws Exception {
        site.welcomed(welcome(world.relay));
        refuses(allocation(world.relay.key()), "a revocation list");
        list(1);
        site.open(allocation(world.relay.key()));
        assertThat(site.isRevoked(host)).isFalse();
        now = NOW.plus(Duration.ofHours(25));
        assertThat(site.isRevoked(host)).isTrue();
    }
}
