package org.cloister.host.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.cloister.host.control.VmRunListener;
import org.cloister.host.control.VmRunPhase;
import org.cloister.host.control.VmRunResult;
import org.cloister.host.vm.VmRunCode;
import org.cloister.protocol.ticket.HostFaultCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that a project learns of its VM's failure before the job step ends, and of no other end. */
class FaultReportTest {
    private final List<String> reported = new ArrayList<>();
    private final FaultReport report = new FaultReport(
            new VmRunListener() {
                @Override
                public void onPhase(VmRunPhase phase, Duration took) {
                    reported.add("phase " + phase);
                }

                @Override
                public void onResult(VmRunResult how) {
                    reported.add("step " + how.code());
                }
            },
            "ticket",
            (ticket, code, phase) -> reported.add("project " + ticket + " " + code + " " + phase));

    @ParameterizedTest
    @EnumSource
    void each_code_of_a_fault_is_one_of_a_result(HostFaultCode code) {
        report.onPhase(VmRunPhase.SCRATCH, Duration.ZERO);
        report.onResult(new VmRunResult(VmRunCode.valueOf(code.name()), VmRunPhase.SCRATCH, "text", ""));
        assertThat(reported).containsExactly("phase scratch", "project ticket " + code + " scratch", "step " + code);
    }

    @Test
    void a_vm_that_ends_as_it_should_is_no_fault() {
        report.onResult(new VmRunResult(VmRunCode.DONE, VmRunPhase.REGISTERED, "text", ""));
        report.onResult(new VmRunResult(VmRunCode.STOPPED, VmRunPhase.REGISTERED, "text", ""));
        assertThat(reported).containsExactly("step done", "step stopped");
    }
}
