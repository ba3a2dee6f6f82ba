package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.cloister.lab.LabCommand;
import org.cloister.lab.localslurm.ClusterLogin;
import org.cloister.lab.localslurm.ClusterUser;
import org.cloister.lab.localslurm.ControllerProcess;
import org.cloister.lab.localslurm.LabCluster;
import org.cloister.lab.localslurm.SlurmPairFixture;
import org.cloister.slurm.SlurmCommand;
import org.cloister.vm.controller.members.MemberAccounts;
import org.cloister.vm.controller.members.MemberHomes;
import org.cloister.vm.controller.members.SlurmAssociations;
import org.cloister.vm.system.users.PasswdFiles;
import org.cloister.vm.system.users.ProjectMember;
import org.cloister.vm.system.users.ProjectMembers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Members become users of the real Slurm while it runs, and nobody else runs jobs. */
@Tag("scenario")
@Tag("slurm")
@Timeout(180)
@ExtendWith(SharedLocalSlurm.class)
class MemberAccountsTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final ClusterUser CAROL = new ClusterUser("carol", 2003);
    private static final ProjectMembers NONE = new ProjectMembers(List.of());

    private final SlurmPairFixture stage;
    private final LabCluster local;
    private final MemberAccounts enrolment;

    MemberAccountsTest(SlurmPairFixture stage) throws IOException {
        this.stage = stage;
        this.local = stage.local();
        SlurmCommand slurm = new SlurmCommand(Optional.of(local.programs()), Optional.empty(), Duration.ofSeconds(15));
        this.enrolment = new MemberAccounts(
                new SlurmAssociations(slurm, "local"),
                new MemberHomes(local.homes(), 0),
                new PasswdFiles(local.etc(), Path.of("/home")));
    }

    @AfterEach
    void tearDown() throws IOException {
        enrolment.create(NONE);
    }

    @Test
    @SuppressWarnings("try") // the controller is only there to be closed
    void a_member_submits_at_once_and_runs_as_themself_in_a_home_of_their_own() throws IOException {
        assertThat(local.head().command("id", "carol").run().exit()).isNotZero();
        enrolment.create(new ProjectMembers(List.of(new ProjectMember(CAROL.name(), CAROL.uid(), CAROL.uid()))));
        ClusterLogin carol = local.as(CAROL);
        try (ControllerProcess controller = stage.startController(16)) {
            long job = carol.submit("id -u; pwd; stat -c %a .; echo kept >kept", "--output=out");
            local.awaitState(Long.toString(job), "COMPLETED", LIMIT);
            assertThat(carol.succeed("cat", "out").lines()).containsExactly("2003", "/home/carol", "700");
            assertThat(local.as(ClusterUser.BOB).run("cat", "/home/carol/out").exit())
                    .isNotZero();
            stage.awaitNoTickets();
            enrolment.create(NONE);
            assertThat(carol.run("true").exit()).isNotZero();
            assertThat(Files.readString(local.homes().resolve("carol/kept"))).isEqualTo("kept\n");
            local.await(
                    "accounting's end of " + job,
                    LIMIT,
                    () -> local.root()
                            .succeed("sacct", "-X", "-n", "-P", "-j", Long.toString(job), "-o", "Account,State")
                            .equals("local|COMPLETED\n"));
        }
    }

    /** It asks for their number when it starts. */
    @Test
    void one_who_comes_back_submits_when_slurmctld_was_started_anew() throws IOException {
        ProjectMembers carol = new ProjectMembers(List.of(new ProjectMember(CAROL.name(), CAROL.uid(), CAROL.uid())));
        enrolment.create(carol);
        enrolment.create(NONE);
        local.terminateController();
        local.startController();
        enrolment.create(carol);
        local.terminateController();
        local.startController();
        long job = local.as(CAROL).submit("true", "--hold");
        local.as(CAROL).succeed("scancel", Long.toString(job));
    }

    @Test
    void neither_root_nor_a_daemon_nor_who_is_no_member_submits() throws IOException {
        assertThat(refused(local.root().command(List.of("sbatch", "--chdir=/", "--wrap=true"))))
                .contains("root runs no jobs here");
        for (String user : List.of("daemon", "slurm", "2004")) {
            assertThat(refused(local.head()
                            .command(
                                    "setpriv",
                                    "--reuid=" + user,
                                    "--regid=2001",
                                    "--clear-groups",
                                    "sbatch",
                                    "--chdir=/",
                                    "--wrap=true")))
                    .contains("Batch job submission failed");
        }
        assertThat(refused(local.as(ClusterUser.ALICE).command(List.of("sbatch", "--uid=root", "--wrap=true"))))
                .contains("root");
        // slurmctld lets its own account submit for others; no job runs for root.
        assertThat(refused(local.head()
                        .command(List.of(
                                "setpriv",
                                "--reuid=slurm",
                                "--regid=slurm",
                                "--clear-groups",
                                "sbatch",
                                "--uid=root",
                                "--chdir=/",
                                "--wrap=true"))))
                .isNotBlank();
    }

    private static String refused(LabCommand command) throws IOException {
        LabCommand.Output output = command.run();
        assertThat(output.exit()).isNotZero();
        return output.err();
    }
}
