package org.cloister.vm.controller.daemons;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests the text of units; {@code ControllerBoundaryTest} shows in a controlling VM that systemd enforces it. */
class LocalSlurmUnitsTest {
    private static final Path STATE = Path.of("/project/cloister/slurm");
    private static final Path NOTIFY_FILE = Path.of("/run/cloister/bell");

    private static List<String> lines(String unit) {
        return unit.lines().toList();
    }

    @Test
    void slurms_daemons_have_an_account_without_privileges_and_come_back_whatever_ends_them() {
        for (String unit : List.of(LocalSlurmUnits.controller(STATE, NOTIFY_FILE), LocalSlurmUnits.accounting())) {
            assertThat(lines(unit))
                    .contains(
                            "User=slurm",
                            "CapabilityBoundingSet=",
                            "NoNewPrivileges=yes",
                            "Restart=always",
                            "ProtectSystem=strict",
                            "LimitCORE=0")
                    .anyMatch(line -> line.startsWith("MemoryMax="))
                    .anyMatch(line -> line.startsWith("TasksMax="));
        }
    }

    /** systemd leaves a mount below another one executable unless it is named. */
    @Test
    void wherever_they_write_nothing_is_executed() {
        String controller = LocalSlurmUnits.controller(STATE, NOTIFY_FILE);
        List<String> noexec = controller
                .lines()
                .filter(line -> line.startsWith("NoExecPaths="))
                .flatMap(line -> List.of(line.replace("NoExecPaths=", "").split(" ", -1)).stream())
                .toList();
        assertThat(noexec).contains("/", STATE.toString(), NOTIFY_FILE.toString(), "/run/slurmctld", "/run", "/dev");
        List<String> own = controller
                .lines()
                .filter(line -> line.startsWith("TemporaryFileSystem="))
                .flatMap(
                        line -> List.of(line.replace("TemporaryFileSystem=", "").split(" ", -1)).stream())
                .toList();
        assertThat(own).hasSize(4).allMatch(place -> place.endsWith("noexec"));
        // Of two for one place systemd keeps NoExecPaths, and the place is covered no more.
        assertThat(own).noneMatch(place -> noexec.contains(place.split(":", 2)[0]));
        assertThat(lines(controller))
                .contains("ExecPaths=/usr/sbin/slurmctld /usr/lib/x86_64-linux-gnu /usr/lib64")
                .contains("BindPaths=" + STATE + " " + NOTIFY_FILE);
        assertThat(lines(LocalSlurmUnits.accounting())).noneMatch(line -> line.startsWith("BindPaths="));
    }

    @Test
    void temporary_files_of_the_database_take_no_room_from_anybody_and_its_socket_is_not_everybodys() {
        assertThat(lines(LocalSlurmUnits.database()))
                .contains("RuntimeDirectoryMode=0710")
                .anyMatch(line -> line.startsWith("TemporaryFileSystem=/tmp:") && line.contains("size=10%"));
        assertThat(lines(LocalSlurmUnits.accounting())).contains("SupplementaryGroups=mysql", "IPAddressDeny=any");
    }
}
