package org.cloister.protocol.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.junit.jupiter.api.Test;

class ProjectApprovalTest {
    private static final String PROJECT = "a".repeat(52);
    private static final ProjectApproval.Quota QUOTA = new ProjectApproval.Quota(4, 64, 262_144, 8, 100, 20);

    private final Instant now = Instant.parse("2026-11-21T10:00:00Z");

    private ProjectApproval approval(Duration lifetime) {
        return new ProjectApproval(PROJECT, 1, "chem", now, now.plus(lifetime), QUOTA);
    }

    @Test
    void is_read_as_it_was_signed_by_the_site_and_nobody_else() throws Exception {
        SigningKey site = KeySamples.signing(SignatureCurve.P256);
        ProjectApproval approval = approval(Duration.ofDays(30));
        byte[] envelope = KeySamples.sign(ProjectApproval.TYPE, approval.payload(), List.of(site));
        assertThat(ProjectApproval.read(envelope, List.of(site.verificationKey())))
                .isEqualTo(approval);
        Throwable thrown = catchThrowable(() -> ProjectApproval.read(
                envelope, List.of(KeySamples.signing(SignatureCurve.P256).verificationKey())));
        assertThat(((IdentityRefusedException) thrown).clause()).isEqualTo(IdentityClause.SIGNATURES);
        byte[] otherType = KeySamples.sign(ProjectDocument.GENESIS, approval.payload(), List.of(site));
        assertThat(catchThrowable(() -> ProjectApproval.read(otherType, List.of(site.verificationKey()))))
                .isInstanceOf(IdentityRefusedException.class);
    }

    @Test
    void holds_from_its_beginning_to_before_its_end() {
        ProjectApproval approval = approval(Duration.ofDays(1));
        assertThat(approval.isValidAt(now)).isTrue();
        assertThat(approval.isValidAt(now.minusSeconds(1))).isFalse();
        assertThat(approval.isValidAt(now.plus(Duration.ofDays(1)))).isFalse();
    }

    @Test
    void each_value_has_both_its_ends() {
        assertThat(approval(ProjectApproval.LONGEST).validUntil()).isEqualTo(now.plus(ProjectApproval.LONGEST));
        for (Duration lifetime :
                List.of(ProjectApproval.LONGEST.plusSeconds(1), Duration.ZERO, Duration.ofSeconds(-1))) {
            assertThatThrownBy(() -> approval(lifetime)).hasMessageContaining("until");
        }
        assertThatThrownBy(() -> new ProjectApproval(PROJECT, 0, "chem", now, now.plusSeconds(1), QUOTA))
                .hasMessageContaining("number");
        assertThatThrownBy(() -> new ProjectApproval(PROJECT, 1, "a b", now, now.plusSeconds(1), QUOTA))
                .hasMessageContaining("account");
        assertThatThrownBy(() -> new ProjectApproval.Quota(-1, 0, 0, 0, 0, 0)).hasMessageContaining("nodes");
        assertThatThrownBy(() -> new ProjectApproval.Quota(0, 0, 0, 65_536, 0, 0))
                .hasMessageContaining("vms");
    }
}
