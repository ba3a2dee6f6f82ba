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
    private static final RpcHeaderPolicy POLICY =
            new RpcHeaderPolicy(SlurmRelease.V22_05, RpcFilterLimits.PRODUCT.maxMessageBytes());

    private record Line(String fate, SlurmMessageType type, SlurmMessageHeader header, String command) {
        static Line parse(String text) {
            String[] words = text.split(" ", 4);
            return new Line(
                    words[0],
                    SlurmMessageType.valueOf(words[1]),
                    SlurmMessageHeader.decode(ByteBuffer.wrap(HexFormat.of().parseHex(words[2]))),
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
            SlurmMessageHeader header = line.header();
            assertThat(header.type()).as(line.command()).isEqualTo(line.type().number());
            assertThat(header.version()).as(line.command()).isEqualTo(SlurmRelease.V22_05.version());
            assertThat(POLICY.check(header).map(RpcRefusal::name))
                    .as(line.command())
                    .isEqualTo(
                            line.fate().equals("admitted")
                                    ? Optional.empty()
                                    : Optional.of(line.type().code()));
        }
    }

    @Test
    void what_administers_is_among_them_and_refused() throws IOException {
        Set<SlurmMessageType> refused = EnumSet.noneOf(SlurmMessageType.class);
        lines().stream().filter(line -> line.fate().equals("refused")).forEach(line -> refused.add(line.type()));
        assertThat(refused)
                .contains(
                        SlurmMessageType.REQUEST_TRIGGER_SET,
                        SlurmMessageType.REQUEST_RECONFIGURE,
                        SlurmMessageType.REQUEST_SHUTDOWN,
                        SlurmMessageType.REQUEST_UPDATE_NODE,
                        SlurmMessageType.REQUEST_UPDATE_PARTITION,
                        SlurmMessageType.REQUEST_CREATE_RESERVATION,
                        SlurmMessageType.REQUEST_SET_DEBUG_LEVEL,
                        SlurmMessageType.REQUEST_CREATE_NODE,
                        SlurmMessageType.REQUEST_DELETE_NODE,
                        SlurmMessageType.REQUEST_AUTH_TOKEN);
    }

    @Test
    void no_message_of_one_release_passes_for_another() throws IOException {
        for (Line line : lines()) {
            SlurmMessageHeader header = line.header();
            for (SlurmRelease other : List.of(SlurmRelease.V24_11, SlurmRelease.V26_05)) {
                assertThat(new RpcHeaderPolicy(other, RpcFilterLimits.PRODUCT.maxMessageBytes()).check(header))
                        .hasValueSatisfying(why -> assertThat(why.name()).isEqualTo("version"));
            }
        }
    }
}
