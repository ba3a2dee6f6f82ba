package org.cloister.vm.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.ticket.TicketWorld;
import org.junit.jupiter.api.Test;

/** What comes of lists that a VM hears before it knows anybody. */
class BelievedTest {
    private final TicketWorld world = new TicketWorld();
    private Instant now = TicketWorld.NOW.plusSeconds(60);
    private final Beliefs beliefs = new Beliefs(Anchors.none(), RevocationLists.none(), () -> now);
    private final Believed believed = new Believed(beliefs);

    BelievedTest() throws Exception {}

    private byte[] owners(int number) throws Exception {
        return world.owner.revoke(List.of(), BigInteger.valueOf(number), TicketWorld.NOW, Duration.ofHours(24));
    }

    private byte[] sites(int number) throws Exception {
        return world.site.revoke(List.of(), BigInteger.valueOf(number), TicketWorld.NOW, Duration.ofHours(24));
    }

    private BigInteger newest() {
        return beliefs.lists().all().stream().map(list -> list.number()).reduce(BigInteger.ZERO, BigInteger::max);
    }

    @Test
    void lists_count_for_whoever_is_believed_later() throws Exception {
        assertThat(believed.heard(owners(1))).as("of nobody yet").isFalse();
        assertThat(believed.heard(sites(1))).isFalse();
        assertThat(believed.heard(new byte[] {1})).isFalse();
        believed.believe(Anchors.none().withProject(world.project));
        assertThat(beliefs.verify(Chain.parse(world.controller.chain()), Set.of(Role.CONTROLLER))
                        .name())
                .isEqualTo(world.controller.name());
        believed.believe(Anchors.none().withProject(world.project).withSite(List.of(world.siteKey.verificationKey())));
        assertThat(beliefs.verify(Chain.parse(world.relay.chain()), Set.of(Role.RELAY))
                        .name())
                .isEqualTo(world.relay.name());
    }

    @Test
    void the_newest_that_came_of_an_issuer_is_the_one_that_counts() throws Exception {
        believed.heard(owners(1));
        believed.heard(owners(2));
        believed.believe(Anchors.none().withProject(world.project));
        assertThat(newest()).isEqualTo(BigInteger.TWO);
        assertThat(believed.heard(owners(3))).isTrue();
        assertThat(believed.heard(owners(2))).as("an older one").isFalse();
        assertThat(newest()).isEqualTo(BigInteger.valueOf(3));
    }

    @Test
    void a_list_that_did_not_hold_by_the_hosts_clock_holds_by_the_openers() throws Exception {
        now = TicketWorld.NOW.minus(Duration.ofHours(3));
        believed.heard(sites(1));
        believed.believe(Anchors.none().withSite(List.of(world.siteKey.verificationKey())));
        now = TicketWorld.NOW.plusSeconds(60);
        Chain relay = Chain.parse(world.relay.chain());
        assertThatThrownBy(() -> beliefs.verify(relay, Set.of(Role.RELAY))).isInstanceOf(IdentityRefused.class);
        believed.believe(beliefs.anchors());
        assertThat(beliefs.verify(relay, Set.of(Role.RELAY)).name()).isEqualTo(world.relay.name());
    }
}
