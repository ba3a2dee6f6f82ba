package org.cloister.ctl.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PassphraseTest {
    private final Passphrase first = Passphrase.of("first passphrase".toCharArray());
    private final Passphrase second = Passphrase.of("second passphrase".toCharArray());

    @Test
    void without_a_terminal_the_option_is_named() {
        assumeFalse(Passphrase.hasTerminal(), "a terminal");
        assertThatThrownBy(() -> Passphrase.prompt("passphrase of k", "--drive-secret-fd"))
                .hasMessage("passphrase of k: there is no terminal to ask at; give it with --drive-secret-fd");
    }

    @Test
    void a_first_passphrase_is_zeroed_when_the_second_is_not_typed() {
        assertThatThrownBy(() -> Passphrase.readTwice("key", what -> {
                    if (what.equals("key")) {
                        return first;
                    }
                    throw new IOException("the terminal was closed");
                }))
                .hasMessage("the terminal was closed");
        assertThat(first.bytes()).containsOnly(0);
    }

    @Test
    void both_are_zeroed_when_they_differ() {
        assertThatThrownBy(() -> Passphrase.readTwice("key", what -> what.equals("key") ? first : second))
                .hasMessage("key: the two entries differ; run the command again");
        assertThat(first.bytes()).containsOnly(0);
        assertThat(second.bytes()).containsOnly(0);
    }

    @Test
    void the_first_is_returned_when_the_second_is_the_same() throws IOException {
        Passphrase same = Passphrase.of("first passphrase".toCharArray());
        assertThat(Passphrase.readTwice("key", what -> what.equals("key") ? first : same))
                .isSameAs(first);
        assertThat(first.bytes()).asString().isEqualTo("first passphrase");
        assertThat(same.bytes()).containsOnly(0);
    }

    /** Java 21 asks a file for its position before it reads many bytes of it, and a pipe has none. */
    @Test
    void it_is_read_from_a_pipe() throws IOException {
        Set<Path> before = pipes();
        Pipe pipe = Pipe.open();
        try (Pipe.SinkChannel sink = pipe.sink()) {
            sink.write(ByteBuffer.wrap("first passphrase\n".getBytes(StandardCharsets.US_ASCII)));
        }
        Set<Path> opened = pipes();
        opened.removeAll(before);
        int descriptor =
                Integer.parseInt(String.valueOf(opened.iterator().next().getFileName()));
        try (Passphrase read = Passphrase.read(descriptor, "key")) {
            assertThat(read.sameAs(first)).isTrue();
        } finally {
            pipe.source().close();
        }
    }

    private static Set<Path> pipes() throws IOException {
        Set<Path> found = new HashSet<>();
        try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path each : open) {
                if (Files.isSymbolicLink(each)
                        && Files.readSymbolicLink(each).toString().startsWith("pipe:")) {
                    found.add(each);
                }
            }
        }
        return found;
    }
}
