package org.cloister.ctl;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.cloister.protocol.circuit.CloseReason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Texts that a member reads when the controlling VM refuses a circuit. */
@Timeout(120)
@SuppressWarnings("NullAway") // what is missing shows as a failed test
class ControllerRefusalTest extends UnlockCommandFixture {
    @Test
    void a_member_is_told_to_wait_only_by_a_VM_that_is_being_opened() throws Exception {
        String[] words = words("ssh-config", "member", "--policy", signed(1));
        relay.exchange().refusal = Optional.of(CloseReason.STARTING);
        ProjectFilesFixture.refused(
                project.cli.run(words), "not yet: the project is being opened; try again in about a minute");
        relay.exchange().refusal = Optional.of(CloseReason.LOCKED);
        ProjectFilesFixture.refused(project.cli.run(words), "not yet: the VM runs and waits for its opener's device");
        relay.exchange().refusal = Optional.of(CloseReason.REFUSED);
        Cli.Result refused = project.cli.run(words);
        assertThat(refused.err()).contains("target refused").doesNotContain("not yet", "minute");
        assertThat(refused.status()).isEqualTo(2);
    }
}
