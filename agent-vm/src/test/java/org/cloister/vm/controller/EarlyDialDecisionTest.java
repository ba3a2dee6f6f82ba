package org.cloister.vm.controller;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.junit.jupiter.api.Test;

class EarlyDialDecisionTest {
    private static final CertificateName OPENER = name("ann", "opener");

    private static CertificateName name(String id, String role) {
        return new CertificateName(id, role, "p");
    }

    @Test
    void only_the_opener_is_not_refused() {
        assertThat(EarlyDialDecision.refusal(OPENER, OPENER, false)).isEmpty();
        assertThat(EarlyDialDecision.refusal(OPENER, OPENER, true)).isEmpty();
    }

    @Test
    void everybody_else_learns_whether_the_vm_waits_for_keys_or_starts_its_project() {
        for (CertificateName from : List.of(
                name("ann", "member"),
                name("ann", "device"),
                name("ben", "opener"),
                name("cat", "exporter"),
                name("w", "worker"))) {
            assertThat(EarlyDialDecision.refusal(from, OPENER, false)).contains(CloseReason.LOCKED);
            assertThat(EarlyDialDecision.refusal(from, OPENER, true)).contains(CloseReason.STARTING);
        }
    }
}
