package org.cloister.vm.system.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.cloister.base.process.ProcessRunner;
import org.junit.jupiter.api.Test;

class ChronyDaemonTest {
    private final ChronyDaemon chronyd = new ChronyDaemon(ProcessRunner.local(), Path.of("/run/cloister/time"));

    @Test
    void a_worker_has_its_controlling_vm_for_a_source_and_no_other_and_serves_nobody() {
        List<String> lines = chronyd.client("10.64.12.5", "10.64.12.1").lines().toList();
        assertThat(lines)
                .containsOnlyOnce("server 10.64.12.1 iburst minpoll 4 maxpoll 6")
                .contains("bindacqaddress 10.64.12.5", "port 0", "cmdport 0", "bindcmdaddress /");
        assertThat(lines)
                .filteredOn(line -> line.matches("(server|pool|peer|refclock|include|confdir|sourcedir).*"))
                .hasSize(1);
        assertThat(lines).noneMatch(line -> line.startsWith("allow") || line.startsWith("local"));
    }

    @Test
    void a_controlling_vm_serves_its_network_on_its_own_address_and_has_no_source() {
        List<String> lines =
                chronyd.server("10.64.12.1", "10.64.12.0/22").lines().toList();
        assertThat(lines).contains("local stratum 10", "bindaddress 10.64.12.1", "allow 10.64.12.0/22", "cmdport 0");
        assertThat(lines)
                .noneMatch(line -> line.matches("(server|pool|peer|refclock|include|confdir|sourcedir|makestep).*"));
    }
}
