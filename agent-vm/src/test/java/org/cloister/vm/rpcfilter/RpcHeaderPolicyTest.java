package org.cloister.vm.rpcfilter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RpcHeaderPolicyTest {
    private static final int MOST = 1000;
    private static final int VERSION = 38 << 8;
    private static final int JOB_INFO = SlurmMessageType.REQUEST_JOB_INFO.number();
    private final RpcHeaderPolicy policy = new RpcHeaderPolicy(SlurmRelease.V22_05, MOST);

    private Optional<String> check(SlurmMessageHeader header) {
        return policy.check(header).map(RpcRefusal::name);
    }

    @Test
    void a_users_question_passes_up_to_the_longest_message() {
        assertThat(check(new SlurmMessageHeader(MOST, VERSION, 0, JOB_INFO, MOST - 14, 0, 0)))
                .isEmpty();
        assertThat(check(new SlurmMessageHeader(14, VERSION, 0, JOB_INFO, 0, 0, 0)))
                .isEmpty();
    }

    @Test
    void lengths_outside_of_both_ends_are_refused() {
        assertThat(check(new SlurmMessageHeader(13, VERSION, 0, JOB_INFO, 0, 0, 0)))
                .hasValue("length");
        assertThat(check(new SlurmMessageHeader(MOST + 1, VERSION, 0, JOB_INFO, 0, 0, 0)))
                .hasValue("length");
        assertThat(check(new SlurmMessageHeader(0xffffffffL, VERSION, 0, JOB_INFO, 0, 0, 0)))
                .hasValue("length");
        assertThat(check(new SlurmMessageHeader(100, VERSION, 0, JOB_INFO, 87, 0, 0)))
                .hasValue("length");
    }

    @Test
    void another_version_is_refused_and_slurmdbds_frame_is_one() {
        assertThat(check(new SlurmMessageHeader(100, VERSION - 256, 0, JOB_INFO, 0, 0, 0)))
                .hasValue("version");
        assertThat(check(new SlurmMessageHeader(100, 42 << 8, 0, JOB_INFO, 0, 0, 0)))
                .hasValue("version");
        // A message for slurmdbd has its type twice, first where others have the version.
        assertThat(check(new SlurmMessageHeader(100, 6500, VERSION, 2, 0, 0, 0)))
                .hasValue("version");
    }

    @Test
    void every_flag_is_refused() {
        for (int bit = 0; bit < 16; bit++) {
            assertThat(check(new SlurmMessageHeader(100, VERSION, 1 << bit, JOB_INFO, 0, 0, 0)))
                    .hasValue("flags");
        }
    }

    @Test
    void nothing_is_forwarded_and_no_answers_are_taken_for_a_request() {
        assertThat(check(new SlurmMessageHeader(100, VERSION, 0, JOB_INFO, 0, 1, 0)))
                .hasValue("forward");
        assertThat(check(new SlurmMessageHeader(100, VERSION, 0, JOB_INFO, 0, 0, 1)))
                .hasValue("forward");
    }

    @Test
    void of_all_numbers_those_that_are_admitted_by_name_pass_alone() {
        int passed = 0;
        for (int type = 0; type <= 0xffff; type++) {
            Optional<String> refused = check(new SlurmMessageHeader(100, VERSION, 0, type, 0, 0, 0));
            boolean admitted =
                    SlurmMessageType.of(type).map(SlurmMessageType::isAdmitted).orElse(false);
            assertThat(refused.isEmpty()).as("type %d", type).isEqualTo(admitted);
            passed += refused.isEmpty() ? 1 : 0;
        }
        assertThat(passed).isEqualTo(42);
        assertThat(check(new SlurmMessageHeader(100, VERSION, 0, 2017, 0, 0, 0)))
                .hasValue("request_trigger_set");
        assertThat(check(new SlurmMessageHeader(100, VERSION, 0, 1, 0, 0, 0))).hasValue("unknown");
    }

    @Test
    void a_header_is_read_in_network_order_and_whole() {
        ByteBuffer bytes = ByteBuffer.allocate(18);
        bytes.putInt(-1).putShort((short) 0x2600).putShort((short) -1).putShort((short) 0xfffe);
        bytes.putInt(-2).putShort((short) 3).putShort((short) 4).flip();
        assertThat(SlurmMessageHeader.decode(bytes))
                .isEqualTo(new SlurmMessageHeader(0xffffffffL, 0x2600, 0xffff, 0xfffe, 0xfffffffeL, 3, 4));
        assertThatThrownBy(() -> SlurmMessageHeader.decode(ByteBuffer.allocate(17)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void a_release_is_known_by_slurmctlds_word_or_not_at_all() {
        assertThat(SlurmRelease.ofVersionOutput("slurm-wlm 22.05.8\n")).hasValue(SlurmRelease.V22_05);
        assertThat(SlurmRelease.ofVersionOutput("slurm 24.11.5\n")).hasValue(SlurmRelease.V24_11);
        assertThat(SlurmRelease.ofVersionOutput("slurm-wlm 26.05.5")).hasValue(SlurmRelease.V26_05);
        assertThat(SlurmRelease.ofVersionOutput("slurm-wlm 23.02.1\n")).isEmpty();
        assertThat(SlurmRelease.ofVersionOutput("slurm-wlm 22.05\n")).isEmpty();
        assertThat(SlurmRelease.ofVersionOutput("something slurm-wlm 22.05.8\n"))
                .isEmpty();
    }
}
