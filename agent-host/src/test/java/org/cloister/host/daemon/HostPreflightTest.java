package org.cloister.host.daemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Optional;
import org.cloister.host.domain.Accelerator;
import org.cloister.preflight.FindingSeverity;
import org.cloister.preflight.MachineRole;
import org.cloister.preflight.PreflightFinding;
import org.cloister.preflight.PreflightReport;
import org.junit.jupiter.api.Test;

class HostPreflightTest {
    private static final PreflightReport WORKS =
            report(new PreflightFinding("kvm", FindingSeverity.OK, "a guest ran on the processor", Optional.empty()));
    private static final PreflightReport HANGS = report(new PreflightFinding(
            "kvm",
            FindingSeverity.WARNING,
            "no guest runs with KVM: -accel kvm: no answer within 10 s",
            Optional.of("switch on VT-x or AMD-V")));

    @Test
    void vms_run_as_configured_and_otherwise_with_kvm_where_a_guest_ran_with_it() throws Exception {
        assertThat(HostPreflight.accelerator(WORKS, Optional.empty())).isEqualTo(Accelerator.KVM);
        assertThat(HostPreflight.accelerator(HANGS, Optional.empty())).isEqualTo(Accelerator.TCG);
        assertThat(HostPreflight.accelerator(WORKS, Optional.of(Accelerator.TCG)))
                .isEqualTo(Accelerator.TCG);
    }

    @Test
    void a_host_that_wants_kvm_and_has_none_says_what_the_check_found() {
        assertThatThrownBy(() -> HostPreflight.accelerator(HANGS, Optional.of(Accelerator.KVM)))
                .hasMessage("kvm: no guest runs with KVM: -accel kvm: no answer within 10 s; mend: switch on VT-x or"
                        + " AMD-V");
    }

    private static PreflightReport report(PreflightFinding... findings) {
        return new PreflightReport(MachineRole.HOST, List.of(findings));
    }
}
