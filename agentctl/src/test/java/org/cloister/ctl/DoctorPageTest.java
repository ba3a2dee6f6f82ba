package org.cloister.ctl;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.cloister.preflight.MachineRole;
import org.cloister.preflight.PreflightChecks;
import org.cloister.preflight.RelaySlurmSettings;
import org.junit.jupiter.api.Test;

class DoctorPageTest {
    @Test
    void man_page_lists_every_check_of_each_role_in_order() throws Exception {
        assertThat(Files.readString(Path.of("src/main/man/agentctl-doctor.adoc")))
                .contains("Of a host: " + names(MachineRole.HOST) + ".\n")
                .contains("Of a virtual machine: " + names(MachineRole.VM) + ".\n")
                .contains("Of a relay: " + names(MachineRole.RELAY) + ".\n");
    }

    private static String names(MachineRole role) {
        return new PreflightChecks(role, "", new RelaySlurmSettings("relay", "secure", Optional.empty(), List.of()))
                .checkNames().stream().map(name -> "`" + name + "`").collect(Collectors.joining(" "));
    }
}
