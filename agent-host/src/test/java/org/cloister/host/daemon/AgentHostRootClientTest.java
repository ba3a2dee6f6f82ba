package org.cloister.host.daemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.cloister.host.health.DrainReason;
import org.cloister.host.slurmstep.JobStepEnded;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the client's requests and each kind of answer; a script of the lab answers. */
@Timeout(20)
@SuppressWarnings("NullAway.Init") // set before each
class AgentHostRootClientTest {
    private static final DrainReason REASON = new DrainReason("scratch failed", Instant.ofEpochSecond(1), false);

    @TempDir
    private Path folder;

    private final BlockingQueue<String> requests = new LinkedBlockingQueue<>();
    private ServerSocketChannel server;
    private AgentHostRootClient part;

    @BeforeEach
    void listen() throws IOException {
        server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(folder.resolve("s")));
        part = new AgentHostRootClient(folder.resolve("s"), Duration.ofSeconds(5));
    }

    @AfterEach
    void end() throws IOException {
        server.close();
    }

    /** The next that asks hears this. */
    private void answer(String text) {
        Thread thread = new Thread(() -> {
            try (SocketChannel one = server.accept()) {
                requests.add(new String(Channels.newInputStream(one).readAllBytes(), StandardCharsets.US_ASCII));
                one.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)));
            } catch (IOException e) {
                requests.add(String.valueOf(e));
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    @Test
    void one_line_is_asked() throws Exception {
        answer("ok\n");
        part.attach("cloister-aaaaaaaaaaaaaaaa-0", 12, 34, List.of(Path.of("/x")));
        assertThat(requests.take()).isEqualTo("take cloister-aaaaaaaaaaaaaaaa-0 34\n");
        answer("ok\n");
        part.drain(REASON);
        assertThat(requests.take()).isEqualTo("drain " + REASON + "\n");
        answer("ok\n");
        part.resume(REASON);
        assertThat(requests.take()).isEqualTo("resume " + REASON + "\n");
        answer("ok\n");
        part.replaceReason(REASON);
        assertThat(requests.take()).isEqualTo("replace " + REASON + "\n");
    }

    @Test
    void a_step_that_has_ended_is_no_fault() {
        answer("gone cgroup /x: its step has ended\n");
        assertThatThrownBy(() -> part.attach("vm", 1, 2, List.of()))
                .isInstanceOf(JobStepEnded.class)
                .hasMessage("cgroup /x: its step has ended");
    }

    @Test
    void any_other_answer_is_an_error_that_shows_it() {
        for (String each : List.of("refused because\n", "failed\n", "okay\n", "", "\u0001\u0002\n", "x".repeat(9000))) {
            answer(each);
            assertThatThrownBy(() -> part.drain(REASON))
                    .isInstanceOf(IOException.class)
                    .isNotInstanceOf(JobStepEnded.class)
                    .hasMessageContaining(" failed: ");
        }
    }

    @Test
    void silence_ends() {
        AgentHostRootClient hasty = new AgentHostRootClient(folder.resolve("s"), Duration.ofMillis(200));
        assertThatThrownBy(() -> hasty.drain(REASON)).hasMessageContaining("no answer within");
    }

    @Test
    void where_nobody_listens_the_error_names_the_unit() {
        AgentHostRootClient nobody = new AgentHostRootClient(folder.resolve("none"), Duration.ofSeconds(5));
        assertThatThrownBy(() -> nobody.drain(REASON)).hasMessageContaining("agent-host-root.socket");
    }
}
