package org.cloister.host.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.cloister.host.control.VmRunPhase;
import org.cloister.host.reconcile.VmTermination;
import org.cloister.host.reconcile.VmTermination.Why;
import org.cloister.host.vm.VmRunCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class VmRunResultMappingTest {
    /** Whom nobody has to look for at this host. */
    private static final Set<VmRunCode> OTHERS = EnumSet.complementOf(EnumSet.of(VmRunCode.HOST));

    private static VmRunCode code(Why why, VmRunPhase phase) {
        return VmRunResultMapping.of(new VmTermination(why, "", 1), phase).code();
    }

    @ParameterizedTest
    @EnumSource(Why.class)
    void whoever_waits_is_told_a_text_and_what_went_wrong_here_a_hint(Why why) {
        var ending = VmRunResultMapping.of(new VmTermination(why, "", 1), VmRunPhase.RUNNING);
        assertThat(ending.text()).isNotBlank();
        assertThat(ending.phase()).isEqualTo(VmRunPhase.RUNNING);
        if (!OTHERS.contains(ending.code())) {
            assertThat(ending.hint()).isNotBlank();
        }
    }

    @Test
    void a_guest_that_ended_after_it_spoke_is_done_and_one_that_never_did_is_at_fault() {
        assertThat(code(Why.DOMAIN_GONE, VmRunPhase.REGISTERED)).isEqualTo(VmRunCode.DONE);
        assertThat(code(Why.DOMAIN_GONE, VmRunPhase.RUNNING)).isEqualTo(VmRunCode.GUEST);
        assertThat(code(Why.DIED, VmRunPhase.REGISTERED)).isEqualTo(VmRunCode.GUEST);
    }

    @Test
    void the_host_is_at_fault_where_a_job_a_guest_and_a_restart_are_not() {
        Map<Why, VmRunCode> expected = new EnumMap<>(Why.class);
        expected.put(Why.ASKED, VmRunCode.STOPPED);
        expected.put(Why.STEP_GONE, VmRunCode.STOPPED);
        expected.put(Why.NOT_REGISTERED, VmRunCode.GUEST);
        expected.put(Why.UNRESPONSIVE, VmRunCode.GUEST);
        expected.put(Why.INTERRUPTED, VmRunCode.UNAVAILABLE);
        expected.put(Why.STOPPED, VmRunCode.HOST);
        expected.put(Why.LOST, VmRunCode.HOST);
        expected.put(Why.FAILED, VmRunCode.HOST);
        expected.put(Why.ORPHAN, VmRunCode.HOST);
        expected.put(Why.DRIVE_TAKEN, VmRunCode.STOPPED);
        expected.put(Why.DRIVE_SILENT, VmRunCode.UNAVAILABLE);
        expected.forEach((why, code) ->
                assertThat(code(why, VmRunPhase.RUNNING)).as(why.toString()).isEqualTo(code));
    }
}
