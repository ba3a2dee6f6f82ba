package org.cloister.vm.rpcfilter;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * Fuzzes the reader of a worker's first bytes: they are refused with a known reason, or are a request that is admitted.
 */
class RpcHeaderFuzz {
    private static final RpcHeaderPolicy POLICY =
            new RpcHeaderPolicy(SlurmRelease.V22_05, RpcFilterLimits.PRODUCT.maxMessageBytes());

    @FuzzTest(maxDuration = "60s")
    void a_header_is_judged_by_what_it_is(byte[] input) {
        if (input.length < SlurmMessageHeader.BYTES) {
            return;
        }
        ByteBuffer bytes = ByteBuffer.wrap(input);
        SlurmMessageHeader header = SlurmMessageHeader.decode(bytes);
        require(bytes.position() == SlurmMessageHeader.BYTES);
        Optional<RpcRefusal> refusal = POLICY.check(header);
        if (refusal.isPresent()) {
            require(RpcRefusalCounter.NAMES.contains(refusal.get().name()));
            require(refusal.get().text().matches("[ -~]{1,120}"));
        } else {
            boolean plain = input[4] == 38 && input[5] == 0 && input[6] == 0 && input[7] == 0;
            int type = (input[8] & 0xff) << 8 | (input[9] & 0xff);
            require(plain && SlurmMessageType.of(type).orElseThrow().isAdmitted());
            require(input[14] == 0 && input[15] == 0 && input[16] == 0 && input[17] == 0 && input[0] <= 1);
        }
    }

    private static void require(boolean holds) {
        if (!holds) {
            throw new IllegalStateException("passed what is not admitted, or refused without a name");
        }
    }
}
