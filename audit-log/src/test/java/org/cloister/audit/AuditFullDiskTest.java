package org.cloister.audit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.audit.AuditVerification;
import org.cloister.protocol.audit.SignedAuditHead;
import org.cloister.protocol.dsse.SigningKey;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Writes where files may not grow, as on a full disk: a write ends in the middle of a group. */
class AuditFullDiskTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it
    private Path folder;

    @Test
    void append_fails_and_mends_the_log_when_there_is_room_again() throws Exception {
        Process child = new ProcessBuilder(
                        "prlimit",
                        "--fsize=10000:unlimited",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:-UsePerfData",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Target.class.getName(),
                        folder.toString())
                .redirectErrorStream(true)
                .start();
        try {
            String output = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(child.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(output).endsWith("mended\n");
        } finally {
            child.destroyForcibly();
        }
    }

    /** Says {@code mended} if each step is as it should be. */
    static final class Target {
        private Target() {}

        public static void main(String[] arguments) throws IOException, GeneralSecurityException, InterruptedException {
            Path folder = Path.of(arguments[0]);
            SigningKey key = RelayLogSamples.key();
            try (AuditLogWriter log = AuditLogWriter.open(folder, RelayLogSamples.RELAY, key, RelayLogSamples.CLOCK)) {
                SignedAuditHead before = fill(log);
                fails(log, before, log.lastEvent());
                fails(log, before, log.lastEvent());
                // Smaller groups go on, and the log is whole in between.
                SignedAuditHead small = log.append(List.of(AuditEvent.of(RelayLogSamples.NOON, "ticket.ended")));
                require(log.isWritable(), "writable after a group that fits");
                require(verifies(folder, key, small), "the log holds while the disk is full");
                allow();
                SignedAuditHead after = log.append(RelayLogSamples.events(log.lastEvent() + 1, log.lastEvent() + 60));
                require(log.isWritable(), "writable when there is room");
                require(verifies(folder, key, after), "the log holds when there is room");
            }
            System.out.println("mended");
        }

        /** Groups of ten as long as they fit. */
        private static SignedAuditHead fill(AuditLogWriter log) throws IOException {
            SignedAuditHead last = log.head();
            while (log.head().head().count() < 20) {
                last = log.append(RelayLogSamples.events(log.lastEvent() + 1, log.lastEvent() + 10));
            }
            return last;
        }

        private static void fails(AuditLogWriter log, SignedAuditHead before, long event) {
            try {
                log.append(RelayLogSamples.events(event + 1, event + 60));
                throw new IllegalStateException("appended what does not fit");
            } catch (IOException e) {
                require(!log.isWritable(), "not writable");
                require(log.head().equals(before), "the head stays");
                require(log.lastEvent() == event, "the last event stays");
            }
        }

        private static boolean verifies(Path folder, SigningKey key, SignedAuditHead head) throws IOException {
            AuditVerification verification = RelayLogSamples.verify(RelayLogSamples.read(folder), key, List.of(head));
            verification.findings().forEach(System.out::println);
            return verification.isValid();
        }

        private static void allow() throws IOException, InterruptedException {
            int status = new ProcessBuilder(
                            "prlimit",
                            "--pid",
                            String.valueOf(ProcessHandle.current().pid()),
                            "--fsize=unlimited:unlimited")
                    .inheritIO()
                    .start()
                    .waitFor();
            require(status == 0, "prlimit lifts the limit");
        }

        private static void require(boolean holds, String what) {
            if (!holds) {
                throw new IllegalStateException("want: " + what);
            }
        }
    }
}
