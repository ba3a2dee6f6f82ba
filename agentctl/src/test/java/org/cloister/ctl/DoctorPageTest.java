package org.cloister.ctl;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.cloister.preflight.Doctor;
import org.cloister.preflight.RelaySlurm;
import org.cloister.preflight.Role;
import org.junit.jupiter.api.Test;

class DoctorPageTest {
    @Test
    void man_page_lists_every_check_of_each_role_in_order() throws Exception {
        assertThat(Files.readString(Path.of("src/main/man/agentctl-doctor.adoc")))
                .contains("Of a host: " + names(Role.HOST) + ".\n")
                .contains("Of a virtual machine: " + names(Role.VM) + ".\n")
                .contains("Of a relay: " + names(Role.RELAY) + ".\n");
    }

    private static String names(Role role) {
        return new Doctor(role, "", new RelaySlurm("relay", "secure", Optional.empty(), List.of()))
                .checkNames().stream().map(name -> "`" + name + "`").collect(Collectors.joining(" "));
    }
}
