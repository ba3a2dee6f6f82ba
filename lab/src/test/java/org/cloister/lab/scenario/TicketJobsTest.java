package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import org.cloister.host.daemon.AgentHostRootClient;
import org.cloister.host.slurmstep.NotInJobStep;
import org.cloister.host.slurmstep.TicketJobs;
import org.cloister.lab.Poll;
import org.cloister.slurm.SlurmUnavailableException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Queries of an agent-host that is not root about its callers' jobs, where a site hides everybody's jobs from others. */
@Tag("scenario")
@Tag("host")
@Timeout(180)
@SuppressWarnings("NullAway.Init") // set before all
class TicketJobsTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String TICKET = "czgfrtu36vggs2hcwyj6cdtzvu";
    private static final String OTHER = "dzgfrtu36vggs2hcwyj6cdtzvu";
    /** Nobody's. */
    private static final String USER = "61234";

    private static CgroupSlurm slurm;
    private static RootSocket socket;

    @BeforeAll
    static void setUp() throws IOException {
        slurm = CgroupSlurm.start();
        socket = RootSocket.forSlurm(slurm);
    }

    @AfterAll
    static void tearDown() throws IOException {
        socket.close();
        slurm.close();
    }

    private static TicketJobs jobs() {
        return new AgentHostRootClient(socket.path(), Duration.ofSeconds(20));
    }

    private static String jobsThatUserSees() throws IOException {
        return slurm.machine()
                .command("setpriv", "--reuid=" + USER, "--regid=" + USER, "--clear-groups", "squeue", "-h", "-o", "%A")
                .succeed();
    }

    @Test
    void roots_part_says_whether_a_job_that_is_hidden_from_others_is_the_tickets() throws IOException {
        long job = slurm.submit(TICKET, 100);
        slurm.task(job);
        assertThat(jobsThatUserSees()).isBlank();
        assertThat(jobs().isTicketJob(job, TICKET)).isTrue();
        assertThat(jobs().isTicketJob(job + 1, TICKET)).isFalse();
        assertThat(jobs().isTicketJob(job, OTHER)).isFalse();
        slurm.machine().signal("slurmctld", "STOP");
        try {
            assertThatThrownBy(() -> jobs().isTicketJob(job, TICKET))
                    .isInstanceOf(SlurmUnavailableException.class)
                    .hasMessageContaining("Slurm gives no answer");
        } finally {
            slurm.machine().signal("slurmctld", "CONT");
        }
        slurm.cancel(job);
        Poll.until("its end", LIMIT, "read slurmctld's log", () -> !jobs().isTicketJob(job, TICKET));
    }

    /** A Slurm of before 26.05 names no job so, and knows no such column. */
    @Test
    void a_sluid_has_the_number_that_slurm_says_and_none_that_is_unknown() throws IOException {
        long job = slurm.submit(TICKET, 100);
        slurm.task(job);
        String sluid = slurm.machine()
                .command("squeue", "-h", "-j", Long.toString(job), "-O", "Sluid:20")
                .run()
                .out()
                .strip();
        if (sluid.startsWith("s")) {
            assertThat(jobs().numberOf(sluid)).isEqualTo(job);
            assertThatThrownBy(() -> jobs().numberOf("s0000000000000"))
                    .isInstanceOf(NotInJobStep.class)
                    .hasMessageContaining("job s0000000000000: want one of root on node " + slurm.node());
        } else {
            assertThatThrownBy(() -> jobs().numberOf("s0000000000000")).isInstanceOf(IOException.class);
        }
        slurm.cancel(job);
    }
}
