package org.cloister.daemon;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class JournalErrorsTest {
    private final ByteArrayOutputStream journal = new ByteArrayOutputStream();
    private final PrintStream errors = new PrintStream(new JournalErrors(journal), true, StandardCharsets.UTF_8);

    @Test
    void each_line_has_the_priority_of_its_level() {
        errors.println("[main] INFO org.cloister.host.daemon.HostDaemon - at work");
        errors.println("[loop-1] WARN org.cloister.transport.AgentLink - relay: ERROR of the other end");
        errors.println("ERROR org.cloister.host.Audit - full");
        errors.println("[main] DEBUG org.cloister.host.Audit - read");
        errors.println("agent-host: error: /etc/cloister/agent-host.toml:3: relays: none");
        assertThat(text()).isEqualTo("""
                        <6>[main] INFO org.cloister.host.daemon.HostDaemon - at work
                        <4>[loop-1] WARN org.cloister.transport.AgentLink - relay: ERROR of the other end
                        <3>ERROR org.cloister.host.Audit - full
                        <7>[main] DEBUG org.cloister.host.Audit - read
                        <3>agent-host: error: /etc/cloister/agent-host.toml:3: relays: none
                        """);
    }

    @Test
    void a_stack_trace_has_the_priority_of_the_line_above_it() {
        errors.println("before any level");
        errors.println("[main] WARN org.cloister.relay.Links - über");
        new IOException("gone").printStackTrace(errors);
        assertThat(text()).startsWith("<6>before any level\n<4>[main] WARN org.cloister.relay.Links - über\n");
        assertThat(text().lines().skip(1)).hasSizeGreaterThan(2).allMatch(line -> line.startsWith("<4>"));
    }

    @Test
    void what_ends_without_a_line_end_is_written_and_no_line_grows_without_limit() {
        errors.print("x".repeat(100_000));
        assertThat(text()).hasSizeBetween(90_000, 100_100);
        errors.close();
        assertThat(text()).hasSizeGreaterThan(100_000);
    }

    private String text() {
        return journal.toString(StandardCharsets.UTF_8);
    }
}
