package org.cloister.vm.worker.steps;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SlurmdDropInTest {
    @Test
    void a_job_has_processes_by_the_cpus_and_slurmd_some_more() {
        assertThat(SlurmdDropIn.processes(1)).isEqualTo(4096);
        assertThat(SlurmdDropIn.processes(16)).isEqualTo(8192);
        assertThat(SlurmdDropIn.processes(512)).isEqualTo(16_384);
        assertThat(SlurmdDropIn.settings("-Z --conf-server 10.64.12.1:6817", 16).lines())
                .contains(
                        "StartLimitIntervalSec=0",
                        "Restart=on-failure",
                        "ExecStart=/usr/sbin/slurmd -Z --conf-server 10.64.12.1:6817",
                        "LimitNPROC=8192",
                        "TasksMax=9216",
                        "OOMScoreAdjust=-800",
                        "OOMPolicy=continue",
                        "NoNewPrivileges=yes");
    }
}
