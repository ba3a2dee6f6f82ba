package org.cloister.luks.secret;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Start of a process with locked memory, each in a separate JVM, as root or not. */
class SecretAllocatorTest {
    /** Nothing may be locked: no limit left, and no capability that goes past limits. */
    private static final List<String> WITHOUT_LOCKING =
            List.of("setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock", "prlimit", "--memlock=0:0");

    @Test
    void a_hardened_process_cannot_be_dumped() throws Exception {
        ChildJvm child = ChildJvm.run(List.of(), Hardened.class, "REQUIRED");
        assertThat(child.output())
                .containsPattern("Max core file size +0 +0 ")
                .contains("dumpable 0")
                .containsPattern("kept by (memfd_secret|mlock)");
        assertThat(child.exit()).isZero();
    }

    @Test
    void does_not_start_where_memory_cannot_be_locked() throws Exception {
        ChildJvm child = ChildJvm.run(WITHOUT_LOCKING, Hardened.class, "REQUIRED");
        assertThat(child.exit()).isEqualTo(3);
        assertThat(child.output())
                .contains("secret of whole pages, 4096 bytes: mlock: ", "errno", "raise the limit of locked memory")
                .doesNotContain("kept by");
    }

    @Test
    void starts_without_locked_memory_when_told_so_by_name() throws Exception {
        ChildJvm child = ChildJvm.run(WITHOUT_LOCKING, Hardened.class, "RUN_WITHOUT_LOCKED_MEMORY");
        assertThat(child.output()).contains("kept by not locked");
        assertThat(child.exit()).isZero();
    }

    static final class Hardened {
        private Hardened() {}

        public static void main(String[] arguments) throws IOException {
            try {
                SecretAllocator secrets = SecretAllocator.harden(SecretAllocator.Locking.valueOf(arguments[0]));
                System.out.println(Files.readString(Path.of("/proc/self/limits")));
                MemoryLibC libc = MemorySystemCalls.load().libc();
                int prGetDumpable = 3;
                System.out.println("dumpable " + libc.prctl(prGetDumpable, 0, 0, 0, 0));
                try (SecretMemory secret = secrets.random(64)) {
                    System.out.println("kept by " + secrets.protection() + " " + secret);
                }
            } catch (SecretException e) {
                System.out.println(e.getMessage());
                System.exit(3);
            }
        }
    }
}
