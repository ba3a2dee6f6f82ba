package org.cloister.luks.secret;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SecretMemoryTest {
    private final SecretAllocator secrets;

    @TempDir
    private Path folder;

    SecretMemoryTest() throws SecretException {
        secrets = SecretAllocator.open(SecretAllocator.Locking.REQUIRED);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void lies_between_guard_pages_and_ends_where_the_upper_one_begins(GuardedPages.Kind kind) throws IOException {
        try (SecretMemory secret = SecretAllocator.of(kind).random(5000);
                SecretMemory.Loan loan = secret.lend()) {
            long end = loan.pointer().address() + 5000;
            assertThat(end % 4096).isZero();
            assertThat(MemoryMapping.around(end).permissions()).isEqualTo("---p");
            assertThat(MemoryMapping.around(end - 1).permissions()).startsWith("rw-");
            assertThat(MemoryMapping.around(end - 2 * 4096).permissions()).startsWith("rw-");
            assertThat(MemoryMapping.around(end - 2 * 4096 - 1).permissions()).isEqualTo("---p");
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void is_locked_and_in_no_dump_and_no_child(GuardedPages.Kind kind) throws IOException {
        try (SecretMemory secret = SecretAllocator.of(kind).random(32);
                SecretMemory.Loan loan = secret.lend()) {
            List<String> flags = MemoryMapping.around(loan.pointer().address()).flags();
            assertThat(flags).contains("dd");
            switch (kind) {
                case SECRET_FILE -> assertThat(flags).contains("lo", "dc");
                case LOCKED -> assertThat(flags).contains("lo", "wf");
                case UNLOCKED -> assertThat(flags).contains("wf").doesNotContain("lo");
            }
        }
    }

    @Test
    void uses_memfd_secret_where_the_kernel_has_it() throws IOException {
        assertThat(secrets.protection()).isEqualTo(hasSecretFiles() ? "memfd_secret" : "mlock");
    }

    @Test
    void a_byte_too_far_ends_the_process() throws Exception {
        ChildJvm child = ChildJvm.run(List.of(), ReadsTooFar.class);
        assertThat(child.output()).contains("last byte read", "SIGSEGV").doesNotContain("guard page read");
        assertThat(child.exit()).isNotZero();
    }

    @Test
    void begins_as_zeroes_and_wipes_to_zeroes() throws IOException {
        try (SecretMemory zero = secrets.allocate(40);
                SecretMemory secret = secrets.random(40)) {
            assertThat(KnownSecrets.bytes(zero)).containsOnly(0);
            assertThat(secret.sameAs(zero)).isFalse();
            secret.wipe();
            assertThat(secret.sameAs(zero)).isTrue();
        }
        assertThat(secrets.liveCount()).isZero();
    }

    @Test
    void close_unmaps_and_may_come_twice() throws IOException {
        SecretMemory secret = secrets.random(32);
        long address;
        try (SecretMemory.Loan loan = secret.lend()) {
            address = loan.pointer().address();
        }
        secret.close();
        secret.close();
        assertThat(secrets.liveCount()).isZero();
        assertThat(MemoryMapping.exists(address)).isFalse();
        assertThatThrownBy(secret::lend)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("secret of 32 bytes: want an open one, have a closed one");
    }

    @Test
    void a_lent_secret_lives_until_the_last_loan_ends_and_is_lent_no_more() throws IOException {
        SecretMemory secret = KnownSecrets.secret(secrets, new byte[] {1, 2, 3});
        SecretMemory.Loan first = secret.lend();
        SecretMemory.Loan second = secret.lend();
        secret.close();
        first.close();
        first.close();
        assertThat(second.pointer().getByte(2)).isEqualTo((byte) 3);
        assertThat(secrets.liveCount()).isEqualTo(1);
        assertThatThrownBy(secret::lend).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(first::pointer).isInstanceOf(IllegalStateException.class);
        second.close();
        assertThat(secrets.liveCount()).isZero();
    }

    @Test
    void threads_that_use_what_others_close_get_bytes_or_a_refusal() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try {
            for (int round = 0; round < 300; round++) {
                SecretMemory secret = KnownSecrets.secret(secrets, new byte[] {7, 7, 7, 7});
                CountDownLatch go = new CountDownLatch(1);
                List<Future<Integer>> readers = List.of(
                        threads.submit(() -> readUntilClosed(secret, go)),
                        threads.submit(() -> readUntilClosed(secret, go)));
                Future<?> closer = threads.submit(() -> {
                    go.await();
                    secret.close();
                    return null;
                });
                go.countDown();
                closer.get();
                for (Future<Integer> reader : readers) {
                    assertThat(reader.get()).isZero();
                }
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(secrets.liveCount()).isZero();
    }

    @Test
    void a_line_is_read_without_its_end_and_what_is_taken_is_zeroed_where_it_was() throws IOException {
        Path file = folder.resolve("line");
        for (String text : List.of("abc", "abc\n")) {
            Files.writeString(file, text);
            try (SecretMemory line = secrets.readLine(file, 3)) {
                assertThat(KnownSecrets.bytes(line)).containsExactly('a', 'b', 'c');
            }
        }
        for (String text : List.of("\n", "abcd", "abcd\n", "abcdefgh")) {
            Files.writeString(file, text);
            assertThatThrownBy(() -> secrets.readLine(file, 3)).isInstanceOf(SecretException.class);
        }
        byte[] typed = {1, 2, 3};
        try (SecretMemory secret = secrets.moveFrom(typed)) {
            assertThat(KnownSecrets.bytes(secret)).containsExactly(1, 2, 3);
            assertThat(typed).containsOnly(0);
        }
        assertThat(secrets.liveCount()).isZero();
    }

    @Test
    void compares_by_bytes_and_never_as_objects() throws IOException {
        try (SecretMemory one = KnownSecrets.secret(secrets, new byte[] {1, 2, 3});
                SecretMemory same = KnownSecrets.secret(secrets, new byte[] {1, 2, 3});
                SecretMemory other = KnownSecrets.secret(secrets, new byte[] {1, 2, 4});
                SecretMemory shorter = KnownSecrets.secret(secrets, new byte[] {1, 2})) {
            assertThat(one.sameAs(same)).isTrue();
            assertThat(one.sameAs(other)).isFalse();
            assertThat(one.sameAs(shorter)).isFalse();
            assertThat(one).isNotEqualTo(same);
        }
    }

    @Test
    void prints_its_length_alone() throws IOException {
        byte[] bytes = HexFormat.of().parseHex("00112233445566778899aabbccddeeff");
        SecretMemory secret = KnownSecrets.secret(secrets, bytes);
        assertThat(secret).hasToString("SecretMemory[16 bytes]");
        secret.close();
        assertThat(secret).hasToString("SecretMemory[16 bytes]");
    }

    @Test
    void copies_parts_within_both_ends() throws IOException {
        try (SecretMemory secret = KnownSecrets.secret(secrets, new byte[] {1, 2, 3, 4});
                SecretMemory part = secrets.part(secret, 1, 2);
                SecretMemory target = secrets.allocate(4)) {
            assertThat(KnownSecrets.bytes(part)).containsExactly(2, 3);
            part.copyTo(target, 0, 2, 2);
            assertThat(KnownSecrets.bytes(target)).containsExactly(0, 0, 2, 3);
            for (int[] bad : new int[][] {{-1, 0, 1}, {0, 3, 2}, {1, 0, 2}, {0, 0, -1}, {2, 0, Integer.MAX_VALUE}}) {
                assertThatThrownBy(() -> part.copyTo(target, bad[0], bad[1], bad[2]))
                        .isInstanceOf(IllegalArgumentException.class);
            }
        }
    }

    @Test
    void refuses_lengths_out_of_range() {
        for (int length : new int[] {-1, 0, SecretAllocator.MAX_LENGTH + 1}) {
            assertThatThrownBy(() -> secrets.allocate(length)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void reads_a_file_of_the_right_size_and_no_other() throws IOException {
        Path file = folder.resolve("key");
        Files.write(file, "0123456789".getBytes(StandardCharsets.US_ASCII));
        try (SecretMemory secret = secrets.readFile(file, 10)) {
            assertThat(KnownSecrets.bytes(secret))
                    .asString(StandardCharsets.US_ASCII)
                    .isEqualTo("0123456789");
        }
        assertThatThrownBy(() -> secrets.readFile(file, 9))
                .isInstanceOf(SecretException.class)
                .hasMessageContaining("want 1 to 9 bytes, have more");
        Path empty = Files.createFile(folder.resolve("empty"));
        assertThatThrownBy(() -> secrets.readFile(empty, 9)).hasMessageContaining("have none");
        assertThatThrownBy(() -> secrets.readFile(folder.resolve("absent"), 9))
                .isInstanceOfSatisfying(SecretException.class, e -> {
                    assertThat(e.call()).isEqualTo("open");
                    assertThat(e.errno()).isEqualTo(2);
                    assertThat(e).hasMessageContaining("No such file");
                });
        assertThat(secrets.liveCount()).isZero();
    }

    @Test
    void two_random_secrets_differ_and_are_filled_to_their_ends() throws IOException {
        try (SecretMemory one = secrets.random(1 << 16);
                SecretMemory other = secrets.random(1 << 16)) {
            assertThat(one.sameAs(other)).isFalse();
            byte[] bytes = KnownSecrets.bytes(one);
            for (int from = 0; from < bytes.length; from += 64) {
                assertThat(Arrays.copyOfRange(bytes, from, from + 64)).isNotEqualTo(new byte[64]);
            }
        }
    }

    private static Stream<GuardedPages.Kind> kinds() throws SecretException {
        boolean secretFiles = hasSecretFiles();
        return Arrays.stream(GuardedPages.Kind.values())
                .filter(kind -> secretFiles || kind != GuardedPages.Kind.SECRET_FILE);
    }

    /** Before Linux 6.5 only when booted with secretmem.enable=1. */
    private static boolean hasSecretFiles() throws SecretException {
        MemoryLibC libc = MemorySystemCalls.load().libc();
        int fd = (int) libc.syscall(447, 0);
        return fd >= 0 && libc.close(fd) == 0;
    }

    private static int readUntilClosed(SecretMemory secret, CountDownLatch go) throws InterruptedException {
        go.await();
        int wrong = 0;
        while (true) {
            try (SecretMemory.Loan loan = secret.lend()) {
                wrong += loan.pointer().getByte(0) == 7 && loan.pointer().getByte(3) == 7 ? 0 : 1;
            } catch (IllegalStateException e) {
                return wrong;
            }
        }
    }

    static final class ReadsTooFar {
        private ReadsTooFar() {}

        public static void main(String[] arguments) throws IOException {
            SecretMemory secret =
                    SecretAllocator.harden(SecretAllocator.Locking.REQUIRED).random(32);
            jnr.ffi.Pointer pointer = secret.lend().pointer();
            long address = pointer.address();
            jnr.ffi.Runtime runtime = jnr.ffi.Runtime.getSystemRuntime();
            jnr.ffi.Pointer.wrap(runtime, address).getByte(31);
            System.out.println("last byte read");
            jnr.ffi.Pointer.wrap(runtime, address).getByte(32);
            System.out.println("guard page read");
        }
    }
}
