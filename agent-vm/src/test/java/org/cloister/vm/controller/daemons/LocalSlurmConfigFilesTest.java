package org.cloister.vm.controller.daemons;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.base.process.ProcessRunner;
import org.cloister.luks.secret.SecretAllocator;
import org.cloister.vm.controller.config.HostShape;
import org.cloister.vm.controller.drive.DriveLayout;
import org.cloister.vm.controller.slurm.LocalSlurmConf;
import org.cloister.vm.system.daemon.DaemonAccount;
import org.cloister.vm.system.daemon.UnitControl;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalSlurmConfigFilesTest {
    @TempDir
    private Path folder;

    private LocalSlurmPlan plan;
    private LocalSlurmConfigFiles files;
    private DaemonAccount daemons;

    @BeforeEach
    void plan() throws IOException {
        daemons = new DaemonAccount(
                "slurm", (int) Files.getAttribute(folder, "unix:uid"), (int) Files.getAttribute(folder, "unix:gid"));
        DriveLayout drive = new DriveLayout(folder.resolve("drive"));
        plan = new LocalSlurmPlan(
                new LocalSlurmConf(
                        "project",
                        "vm-0",
                        "10.64.12.1",
                        drive.slurmState(),
                        LocalSlurmPlan.HOOKS,
                        Path.of("/run/cloister/bell"),
                        Optional.of("127.0.0.1"),
                        List.of(new HostShape(4, 8, 16_384, 0)),
                        1024,
                        Duration.ofDays(7)),
                drive);
        files = new LocalSlurmConfigFiles(plan, folder.resolve("etc"));
    }

    private String written(String name) throws IOException {
        return Files.readString(folder.resolve("etc").resolve(name));
    }

    @Test
    void slurm_conf_is_the_one_that_the_queue_is_made_for_and_its_hooks_are_the_packages() throws IOException {
        files.write(daemons);
        assertThat(written("slurm/slurm.conf"))
                .isEqualTo(plan.slurmConf().text())
                .contains("Prolog=/usr/lib/cloister/slurm/prolog\n")
                .contains("MaxNodeCount=4100\n", "TreeWidth=4100\n")
                .contains("StateSaveLocation=" + plan.driveLayout().slurmState());
        assertThat(written("slurm/cgroup.conf")).isEqualTo("IgnoreSystemd=yes\n");
    }

    @Test
    void the_database_is_on_the_drive_and_answers_on_a_socket_alone() throws IOException {
        files.write(daemons);
        assertThat(written("mysql/mariadb.conf.d/99-cloister.cnf"))
                .contains("datadir=" + plan.driveLayout().databaseFolder() + "\n")
                .contains("skip-networking\n")
                .contains("socket=" + plan.databaseSocket() + "\n");
        assertThat(written("slurm/slurmdbd.conf"))
                .contains("StorageHost=localhost\n", "SlurmUser=slurm\n", "StorageUser=slurm\n")
                // A log that grows is in the journal, which has a bound.
                .doesNotContain("StoragePass", "LogFile=");
        assertThat(PosixFilePermissions.toString(
                        Files.getPosixFilePermissions(folder.resolve("etc/slurm/slurmdbd.conf"))))
                .as("slurmdbd takes no other")
                .isEqualTo("rw-------");
    }

    @Test
    void files_are_written_again_over_what_was_there() throws IOException {
        files.write(daemons);
        Files.writeString(folder.resolve("etc/slurm/slurm.conf"), "other");
        files.write(daemons);
        assertThat(written("slurm/slurm.conf")).isEqualTo(plan.slurmConf().text());
    }

    @Test
    void the_munge_key_is_new_each_time() throws IOException {
        SecretAllocator secrets = SecretAllocator.open(SecretAllocator.Locking.RUN_WITHOUT_LOCKED_MEMORY);
        try (MungeKey first = MungeKey.generate(secrets);
                MungeKey second = MungeKey.generate(secrets)) {
            assertThat(first.secret().length()).isEqualTo(128);
            assertThat(first.secret().sameAs(second.secret())).isFalse();
        }
    }

    @Test
    void daemons_end_in_the_other_order_and_one_that_does_not_keeps_none_from_it() {
        List<String> reported = new ArrayList<>();
        UnitControl services = new UnitControl() {
            @Override
            public void start(String unit, String settings) {}

            @Override
            public void tryRestart(String unit) {}

            @Override
            public void stop(String unit) throws IOException {
                reported.add(unit);
                if (unit.equals(LocalSlurmDaemons.ACCOUNTING)) {
                    throw new IOException("test");
                }
            }
        };
        LocalSlurmDaemons cluster = new LocalSlurmDaemons(ProcessRunner.local(), services, plan, Duration.ofSeconds(1));
        assertThat(cluster.stop()).containsExactly(LocalSlurmDaemons.ACCOUNTING);
        assertThat(reported)
                .containsExactly(
                        LocalSlurmDaemons.CONTROLLER, LocalSlurmDaemons.ACCOUNTING, LocalSlurmDaemons.DATABASE);
    }
}
