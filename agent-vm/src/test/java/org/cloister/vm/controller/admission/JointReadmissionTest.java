package org.cloister.vm.controller.admission;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.cloister.protocol.identity.CertificateName;
import org.junit.jupiter.api.Test;

/** Workers of one job that come back one after the other. */
class JointReadmissionTest {
    private static final Instant START = Instant.parse("2026-11-21T10:00:00Z");
    private static final String TICKET = "mfrggzdfmztwq2lknnwg23tpob";
    private static final CertificateName FIRST = worker("w-0");
    private static final CertificateName SECOND = worker("w-1");
    private static final CertificateName THIRD = worker("w-2");

    private final JointReadmission<String> joint = new JointReadmission<>();
    private final Set<CertificateName> missing = new HashSet<>(Set.of(FIRST, SECOND));
    private final Set<String> closed = new HashSet<>();

    private static CertificateName worker(String id) {
        return new CertificateName(id, "worker", "p");
    }

    private void asks(CertificateName worker, String circuit, long second) {
        joint.add(TICKET, worker, circuit, START.plusSeconds(second));
    }

    private List<String> granted(double second) {
        return joint.poll(
                TICKET, missing, circuit -> !closed.contains(circuit), START.plusMillis(Math.round(second * 1000)));
    }

    @Test
    void all_are_granted_together_when_the_last_has_asked() {
        asks(FIRST, "a", 0);
        assertThat(granted(0)).isEmpty();
        asks(SECOND, "b", 20);
        assertThat(granted(20)).containsExactly("a", "b");
        assertThat(granted(21)).as("each is granted once").isEmpty();
    }

    @Test
    void a_worker_that_is_the_only_one_without_the_key_does_not_wait() {
        missing.remove(SECOND);
        asks(FIRST, "a", 0);
        assertThat(granted(0)).containsExactly("a");
    }

    @Test
    void one_that_never_comes_is_waited_for_until_the_limit_and_not_again() {
        missing.add(THIRD);
        asks(FIRST, "a", 0);
        asks(SECOND, "b", 40);
        assertThat(granted(44.999)).isEmpty();
        assertThat(granted(45)).containsExactly("a", "b");
        asks(SECOND, "c", 50);
        assertThat(granted(50)).as("the ticket has waited").containsExactly("c");
    }

    @Test
    void one_whose_circuit_is_lost_while_it_waits_counts_again_when_it_comes_back() {
        asks(FIRST, "a", 0);
        closed.add("a");
        asks(SECOND, "b", 1);
        assertThat(granted(1)).isEmpty();
        asks(FIRST, "c", 2);
        assertThat(granted(2)).containsExactlyInAnyOrder("b", "c");
    }

    @Test
    void a_clock_that_is_set_back_ends_the_wait() {
        asks(FIRST, "a", 0);
        assertThat(granted(-1)).containsExactly("a");
    }

    @Test
    void a_forgotten_ticket_has_no_requests() {
        asks(FIRST, "a", 0);
        joint.forget(TICKET);
        assertThat(joint.waiting()).isEmpty();
        assertThat(granted(60)).isEmpty();
    }
}
