package org.cloister.vm.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.ticket.SignedTicketFixture;
import org.junit.jupiter.api.Test;

/** Tests lists that a VM receives before it has any keys. */
class VmTrustStoreTest {
    private final SignedTicketFixture fixture = new SignedTicketFixture();
    private Instant now = SignedTicketFixture.NOW.plusSeconds(60);
    private final TrustStore trustStore = new TrustStore(TrustAnchors.none(), RevocationLists.none(), () -> now);
    private final VmTrustStore vmTrustStore = new VmTrustStore(trustStore);

    VmTrustStoreTest() throws Exception {}

    private byte[] owners(int number) throws Exception {
        return fixture.owner.revoke(
                List.of(), BigInteger.valueOf(number), SignedTicketFixture.NOW, Duration.ofHours(24));
    }

    private byte[] sites(int number) throws Exception {
        return fixture.site.revoke(
                List.of(), BigInteger.valueOf(number), SignedTicketFixture.NOW, Duration.ofHours(24));
    }

    private BigInteger newest() {
        return trustStore.lists().all().stream().map(list -> list.number()).reduce(BigInteger.ZERO, BigInteger::max);
    }

    @Test
    void lists_count_for_whoever_is_believed_later() throws Exception {
        assertThat(vmTrustStore.addRevocationList(owners(1)))
                .as("of nobody yet")
                .isFalse();
        assertThat(vmTrustStore.addRevocationList(sites(1))).isFalse();
        assertThat(vmTrustStore.addRevocationList(new byte[] {1})).isFalse();
        vmTrustStore.replaceAnchors(TrustAnchors.none().withProject(fixture.project));
        assertThat(trustStore
                        .verify(CertificateChain.parse(fixture.controller.chain()), Set.of(CertificateRole.CONTROLLER))
                        .name())
                .isEqualTo(fixture.controller.name());
        vmTrustStore.replaceAnchors(
                TrustAnchors.none().withProject(fixture.project).withSite(List.of(fixture.siteKey.verificationKey())));
        assertThat(trustStore
                        .verify(CertificateChain.parse(fixture.relay.chain()), Set.of(CertificateRole.RELAY))
                        .name())
                .isEqualTo(fixture.relay.name());
    }

    @Test
    void the_newest_that_came_of_an_issuer_is_the_one_that_counts() throws Exception {
        vmTrustStore.addRevocationList(owners(1));
        vmTrustStore.addRevocationList(owners(2));
        vmTrustStore.replaceAnchors(TrustAnchors.none().withProject(fixture.project));
        assertThat(newest()).isEqualTo(BigInteger.TWO);
        assertThat(vmTrustStore.addRevocationList(owners(3))).isTrue();
        assertThat(vmTrustStore.addRevocationList(owners(2))).as("an older one").isFalse();
        assertThat(newest()).isEqualTo(BigInteger.valueOf(3));
    }

    @Test
    void a_list_that_did_not_hold_by_the_hosts_clock_holds_by_the_openers() throws Exception {
        now = SignedTicketFixture.NOW.minus(Duration.ofHours(3));
        vmTrustStore.addRevocationList(sites(1));
        vmTrustStore.replaceAnchors(TrustAnchors.none().withSite(List.of(fixture.siteKey.verificationKey())));
        now = SignedTicketFixture.NOW.plusSeconds(60);
        CertificateChain relay = CertificateChain.parse(fixture.relay.chain());
        assertThatThrownBy(() -> trustStore.verify(relay, Set.of(CertificateRole.RELAY)))
                .isInstanceOf(IdentityRefusedException.class);
        vmTrustStore.replaceAnchors(trustStore.anchors());
        assertThat(trustStore.verify(relay, Set.of(CertificateRole.RELAY)).name())
                .isEqualTo(fixture.relay.name());
    }
}
