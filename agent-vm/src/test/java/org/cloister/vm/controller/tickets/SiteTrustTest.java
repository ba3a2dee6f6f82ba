package org.cloister.vm.controller.tickets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.security.SecureRandom;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.SignedTicketFixture;
import org.cloister.protocol.ticket.SignedTicketFixture.Signer;
import org.junit.jupiter.api.Test;

/** Tests whose nodes a controlling VM accepts, and until when. */
class SiteTrustTest {
    private static final Instant NOW = SignedTicketFixture.NOW.plusSeconds(60);

    private final SignedTicketFixture fixture = new SignedTicketFixture();
    private Instant now = NOW;
    private final TrustStore trustStore = new TrustStore(
            TrustAnchors.none().withProject(fixture.project).withSite(List.of(fixture.siteKey.verificationKey())),
            RevocationLists.none(),
            () -> now);
    private final SiteTrust site = new SiteTrust(trustStore);
    private final VerificationKey host = fixture.hosts.get(0).key().verificationKey();

    SiteTrustTest() throws Exception {}

    private void list(int number, Signer... revoked) throws Exception {
        List<CertificateAuthority.Revocation> all = new java.util.ArrayList<>();
        for (Signer each : revoked) {
            X509Certificate leaf = (X509Certificate) CertificateFactory.getInstance("X.509")
                    .generateCertificate(new ByteArrayInputStream(each.chain().get(0)));
            all.add(new CertificateAuthority.Revocation(leaf.getSerialNumber(), now));
        }
        trustStore.addRevocationList(fixture.site.revoke(all, BigInteger.valueOf(number), now, Duration.ofHours(24)));
    }

    private static RelayTicketMessage.Welcome welcome(Signer relay) {
        return new RelayTicketMessage.Welcome(
                ByteString.EMPTY,
                relay.chain().stream().map(ByteString::copyFrom).toList());
    }

    private byte[] allocation(SigningKey signer) throws Exception {
        return fixture.allocation(fixture.ticket(fixture.request()), fixture.slots())
                .sign(signer)
                .bytes();
    }

    private void refuses(byte[] allocation, String why) {
        assertThatThrownBy(() -> site.verifyAllocation(allocation))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(why);
        assertThat(site.isUntrusted(host)).isTrue();
    }

    @Test
    void a_relay_of_the_site_gives_nodes_and_its_hosts_hold_as_long_as_it_does() throws Exception {
        list(1);
        assertThat(site.isUntrusted(host)).as("nobody has given it").isTrue();
        assertThat(site.onWelcome(welcome(fixture.relay)))
                .as("half of what its certificate has left")
                .isEqualTo(Duration.between(NOW, SignedTicketFixture.NOW.plus(SignedTicketFixture.DAY))
                        .dividedBy(2));
        Allocation verified = site.verifyAllocation(allocation(fixture.relay.key()));
        assertThat(verified.slots()).hasSize(2);
        assertThat(site.isUntrusted(host)).isFalse();
        list(2, fixture.relay);
        assertThat(site.isUntrusted(host)).isTrue();
        refuses(allocation(fixture.relay.key()), "revoked");
    }

    private void revokeHostKey(int number) throws Exception {
        // All certificates of that key have ended since.
        now = NOW.plus(Duration.ofDays(20));
        CertificateAuthority.Revocation key = new CertificateAuthority.Revocation(RevocationList.numberOf(host), NOW);
        trustStore.addRevocationList(
                fixture.site.revoke(List.of(key), BigInteger.valueOf(number), now, Duration.ofHours(24)));
    }

    @Test
    void a_host_that_the_site_has_taken_back_is_known_by_its_key_whatever_its_certificates_were() throws Exception {
        list(1);
        site.onWelcome(welcome(fixture.relay));
        site.verifyAllocation(allocation(fixture.relay.key()));
        assertThat(site.isKeyRevoked(host)).isFalse();
        revokeHostKey(2);
        assertThat(site.isKeyRevoked(host)).isTrue();
        assertThat(site.isUntrusted(host)).isTrue();
        assertThat(site.isKeyRevoked(fixture.hosts.get(1).key().verificationKey()))
                .isFalse();
        now = now.plus(Duration.ofDays(2));
        assertThat(site.isKeyRevoked(host)).as("what was said stays said").isTrue();
        assertThat(site.isKeyRevoked(fixture.hosts.get(1).key().verificationKey()))
                .as("a list that has ended ends nobody")
                .isFalse();
        trustStore.replaceAnchors(TrustAnchors.none().withProject(fixture.project));
        assertThat(site.isKeyRevoked(host)).as("by nobody of the site").isFalse();
    }

    @Test
    void a_relay_that_has_not_shown_itself_gives_nothing() throws Exception {
        list(1);
        refuses(allocation(fixture.relay.key()), "has not shown its certificates");
        site.onWelcome(new RelayTicketMessage.Welcome(ByteString.EMPTY, List.of()));
        refuses(allocation(fixture.relay.key()), "has not shown its certificates");
    }

    @Test
    void a_relay_of_another_site_gives_nothing() throws Exception {
        list(1);
        SigningKey other = SignedTicketFixture.key(SignatureCurve.P256);
        CertificateAuthority elsewhere = CertificateAuthority.ofSite(
                SubjectPublicKey.of(other.verificationKey()),
                other::sign,
                SignedTicketFixture.NOW,
                Duration.ofDays(30),
                new SecureRandom());
        Signer relay = SignedTicketFixture.party(elsewhere, fixture.relay.name());
        assertThat(site.onWelcome(welcome(relay))).isEqualTo(Duration.ofMinutes(1));
        refuses(allocation(relay.key()), "authority of site");
        refuses(allocation(fixture.relay.key()), "authority of site");
    }

    @Test
    void an_allocation_that_somebody_else_signed_is_none() throws Exception {
        list(1);
        site.onWelcome(welcome(fixture.relay));
        refuses(allocation(fixture.hosts.get(0).key()), "signature");
        Signer second =
                SignedTicketFixture.party(fixture.site, new CertificateName("r2", "relay", CertificateName.SITE));
        site.onWelcome(welcome(second));
        refuses(allocation(second.key()), "r2.relay");
    }

    @Test
    void a_host_of_the_site_gives_no_nodes() throws Exception {
        list(1);
        site.onWelcome(welcome(fixture.hosts.get(0)));
        refuses(allocation(fixture.hosts.get(0).key()), "relay");
    }

    @Test
    void certificates_that_have_ended_give_nothing_and_newer_ones_do() throws Exception {
        list(1);
        site.onWelcome(welcome(fixture.relay));
        now = SignedTicketFixture.NOW.plus(SignedTicketFixture.DAY).plusSeconds(1);
        list(2);
        refuses(allocation(fixture.relay.key()), "a time from");
        byte[] renewed = fixture.site.issue(
                fixture.relay.name(),
                SubjectPublicKey.of(fixture.relay.key().verificationKey()),
                now,
                SignedTicketFixture.DAY);
        site.onWelcome(welcome(new Signer(fixture.relay.name(), fixture.relay.key(), List.of(renewed))));
        assertThat(site.verifyAllocation(allocation(fixture.relay.key())).slots())
                .hasSize(2);
        assertThat(site.isUntrusted(host)).isFalse();
    }

    @Test
    void without_a_list_of_the_sites_in_force_nobody_gives_anything() throws Exception {
        site.onWelcome(welcome(fixture.relay));
        refuses(allocation(fixture.relay.key()), "a revocation list");
        list(1);
        site.verifyAllocation(allocation(fixture.relay.key()));
        assertThat(site.isUntrusted(host)).isFalse();
        now = NOW.plus(Duration.ofHours(25));
        assertThat(site.isUntrusted(host)).isTrue();
    }
}
