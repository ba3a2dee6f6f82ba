package org.cloister.vm.rpcfilter;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Bytes of the real programs against decoder and policy. */
class GoldenMessagesTest {
    private static final HeaderPolicy POLICY = new HeaderPolicy(SlurmRelease.V22_05, Limits.PRODUCT.length());

    private record Line(String fate, MessageType type, MessageHeader header, String command) {
        static Line parse(String text) {
            String[] words = text.split(" ", 4);
            return new Line(
                    words[0],
                    MessageType.valueOf(words[1]),
                    MessageHeader.decode(ByteBuffer.wrap(HexFormat.of().parseHex(words[2]))),
                    words[3]);
        }
    }

    private static List<Line> lines() throws IOException {
        try (InputStream in = GoldenMessagesTest.class.getResourceAsStream("messages-22.05.8.txt")) {
            return new String(in.readAllBytes(), StandardCharsets.US_ASCII)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .map(Line::parse)
                    .toList();
        }
    }

    @Test
    void each_message_has_its_type_and_its_fate() throws IOException {
        for (Line line : lines()) {
            MessageHeader header = line.header();
            assertThat(header.type()).as(line.command()).isEqualTo(line.type().number());
            assertThat(header.version()).as(line.command()).isEqualTo(SlurmRelease.V22_05.version());
            assertThat(POLICY.judge(header).map(Refusal::name))
                    .as(line.command())
                    .isEqualTo(
                            line.fate().equals("admitted")
                                    ? Optional.empty()
                                    : Optional.of(line.type().code()));
        }
    }

    @Test
    void what_administers_is_among_them_and_refused() throws IOException {
        Set<MessageType> refused = EnumSet.noneOf(MessageType.class);
        lines().stream().filter(line -> line.fate().equals("refused")).forEach(line -> refused.add(line.type()));
        assertThat(refused)
                .contains(
                        MessageType.REQUEST_TRIGGER_SET,
                        MessageType.REQUEST_RECONFIGURE,
                        MessageType.REQUEST_SHUTDOWN,
                        MessageType.REQUEST_UPDATE_NODE,
                        MessageType.REQUEST_UPDATE_PARTITION,
                        MessageType.REQUEST_CREATE_RESERVATION,
                        MessageType.REQUEST_SET_DEBUG_LEVEL,
                        MessageType.REQUEST_CREATE_NODE,
                        MessageType.REQUEST_DELETE_NODE,
                        MessageType.REQUEST_AUTH_TOKEN);
    }

    @Test
    void no_message_of_one_release_passes_for_another() throws IOException {
        for (Line line : lines()) {
            MessageHeader header = line.header();
            for (SlurmRelease other : List.of(SlurmRelease.V24_11, SlurmRelease.V26_05)) {
                assertThat(new HeaderPolicy(other, Limits.PRODUCT.length()).judge(header))
                        .hasValueSatisfying(why -> assertThat(why.name()).isEqualTo("version"));
            }
        }
    }
}
