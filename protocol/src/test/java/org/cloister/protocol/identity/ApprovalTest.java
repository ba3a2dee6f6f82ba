package org.cloister.protocol.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;
import org.junit.jupiter.api.Test;

class ApprovalTest {
    private static final String PROJECT = "a".repeat(52);
    private static final Approval.Quota QUOTA = new Approval.Quota(4, 64, 262_144, 8, 100, 20);

    private final Instant now = Instant.parse("2026-11-21T10:00:00Z");

    private Approval approval(Duration life) {
        return new Approval(PROJECT, 1, "chem", now, now.plus(life), QUOTA);
    }

    @Test
    void is_read_as_it_was_signed_by_the_site_and_nobody_else() throws Exception {
        SigningKey site = Keys.signing(Curve.P256);
        Approval approval = approval(Duration.ofDays(30));
        byte[] envelope = Keys.sign(Approval.TYPE, approval.payload(), List.of(site));
        assertThat(Approval.read(envelope, List.of(site.verificationKey()))).isEqualTo(approval);
        Throwable thrown = catchThrowable(
                () -> Approval.read(envelope, List.of(Keys.signing(Curve.P256).verificationKey())));
        assertThat(((IdentityRefused) thrown).clause()).isEqualTo(Clause.SIGNATURES);
        byte[] otherType = Keys.sign(ProjectDocument.GENESIS, approval.payload(), List.of(site));
        assertThat(catchThrowable(() -> Approval.read(otherType, List.of(site.verificationKey()))))
                .isInstanceOf(IdentityRefused.class);
    }

    @Test
    void holds_from_its_beginning_to_before_its_end() {
        Approval approval = approval(Duration.ofDays(1));
        assertThat(approval.holds(now)).isTrue();
        assertThat(approval.holds(now.minusSeconds(1))).isFalse();
        assertThat(approval.holds(now.plus(Duration.ofDays(1)))).isFalse();
    }

    @Test
    void each_value_has_both_its_ends() {
        assertThat(approval(Approval.LONGEST).until()).isEqualTo(now.plus(Approval.LONGEST));
        for (Duration life : List.of(Approval.LONGEST.plusSeconds(1), Duration.ZERO, Duration.ofSeconds(-1))) {
            assertThatThrownBy(() -> approval(life)).hasMessageContaining("until");
        }
        assertThatThrownBy(() -> new Approval(PROJECT, 0, "chem", now, now.plusSeconds(1), QUOTA))
                .hasMessageContaining("number");
        assertThatThrownBy(() -> new Approval(PROJECT, 1, "a b", now, now.plusSeconds(1), QUOTA))
                .hasMessageContaining("account");
        assertThatThrownBy(() -> new Approval.Quota(-1, 0, 0, 0, 0, 0)).hasMessageContaining("nodes");
        assertThatThrownBy(() -> new Approval.Quota(0, 0, 0, 65_536, 0, 0)).hasMessageContaining("vms");
    }
}
