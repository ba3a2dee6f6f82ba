package org.cloister.vm.worker.scratch;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class UnencryptedSwapTest {
    private static final String HEAD = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
    private static final List<Path> SCRATCH = List.of(Path.of("/dev/mapper/cloister-scratch"), Path.of("/scratch"));

    @Test
    void swap_is_in_clear_unless_it_lies_on_the_scratch_volume() {
        assertThat(UnencryptedSwap.inClear(HEAD, SCRATCH)).isEmpty();
        assertThat(UnencryptedSwap.inClear(
                        HEAD + "/dev/vdb                                partition\t1048572\t0\t-2\n"
                                + "/scratch/.swap                          file\t1048572\t0\t-3\n"
                                + "/dev/mapper/cloister-scratch            partition\t1\t0\t-3\n"
                                + "/scratchy/swap                          file\t1048572\t0\t-4\n",
                        SCRATCH))
                .containsExactly("/dev/vdb", "/scratchy/swap");
    }
}
