package org.cloister.ipsec.vici;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.cloister.ipsec.vici.IpsecException.Malformed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class ViciMessageCodecTest {
    /** Packets as charon 5.9.8 sent them, without their lengths. */
    private static final Path RECORDED = Path.of("src/test/resources/org/cloister/ipsec/vici/recorded");

    static List<Path> recorded() throws IOException {
        try (Stream<Path> files = Files.list(RECORDED)) {
            return files.sorted().toList();
        }
    }

    /** The example of strongSwan's description. */
    @Test
    void writes_and_reads_the_example_of_the_description() throws Exception {
        ViciMessage message = ViciMessage.empty()
                .with("key1", "value1")
                .with(
                        "section1",
                        ViciMessage.empty()
                                .with("sub-section", ViciMessage.empty().with("key2", "value2"))
                                .with("list1", List.of("item1", "item2")));
        ByteBuf bytes = Unpooled.buffer();
        ViciMessageCodec.write(message, bytes);
        assertThat(ByteBufUtil.hexDump(bytes))
                .isEqualTo("03046b657931000676616c7565310108" + hex("section1") + "010b" + hex("sub-section") + "0304"
                        + hex("key2") + "0006" + hex("value2") + "02" + "0405" + hex("list1") + "050005" + hex("item1")
                        + "050005" + hex("item2") + "06" + "02");
        assertThat(ViciMessageCodec.read(bytes)).isEqualTo(message);
    }

    @ParameterizedTest
    @MethodSource("recorded")
    void reads_what_charon_sent_and_would_write_the_same(Path file) throws Exception {
        byte[] packet = Files.readAllBytes(file);
        ViciPacket read = ViciPacket.read(Unpooled.wrappedBuffer(packet));
        ViciMessage message;
        int start;
        if (read instanceof ViciPacket.Event event) {
            message = event.message();
            start = 2 + event.name().length();
        } else {
            message = ((ViciPacket.Response) read).message();
            start = 1;
        }
        ByteBuf again = Unpooled.buffer();
        ViciMessageCodec.write(message, again);
        assertThat(ByteBufUtil.hexDump(again)).isEqualTo(ByteBufUtil.hexDump(packet, start, packet.length - start));
    }

    /** Bytes of a message in hexadecimal, and what the error says. */
    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '"',
            value = {
                "00, element type from 1 to 6",
                "07, element type from 1 to 6",
                "01, a name's length",
                "0105616263, a name of 5 bytes",
                "01016102ff, element type",
                "010161, want its end",
                "02, a section to end",
                "0101610202, a section to end",
                "0301610002ff, a value of 2 bytes",
                "03016100, a value's length",
                "030161, a value's length",
                "040161, want its end",
                "04016105000161, want its end",
                "0401610301620000, an item or its end",
                "040161040162, an item or its end",
                "04016102, an item or its end",
                "05000161, an open list",
                "06, an open list",
                "03016100000301610000, each name once",
                "010161020101610206, each name once",
                "03010a0000, printable ASCII",
                "0301ff0000, printable ASCII",
            })
    void refuses(String hex, String why) {
        assertThatThrownBy(() -> ViciMessageCodec.read(Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(hex))))
                .isInstanceOf(Malformed.class)
                .hasMessageContaining(why);
    }

    @Test
    void takes_sections_as_deep_as_the_limit_and_not_one_more() throws Exception {
        assertThat(ViciMessageCodec.read(nested(ViciMessageCodec.MAX_DEPTH)).sections())
                .hasSize(1);
        for (int depth : new int[] {ViciMessageCodec.MAX_DEPTH + 1, 10_000}) {
            assertThatThrownBy(() -> ViciMessageCodec.read(nested(depth)))
                    .isInstanceOf(Malformed.class)
                    .hasMessageContaining("16 deep");
        }
    }

    @Test
    void takes_a_message_of_512_kib_and_not_one_byte_more() throws Exception {
        ByteBuf most = Unpooled.buffer();
        most.writeByte(4).writeByte(0);
        while (most.readableBytes() + 3 + 0xffff < ViciMessageCodec.MAX_BYTES) {
            most.writeByte(5).writeShort(0xffff).writeZero(0xffff);
        }
        int rest = ViciMessageCodec.MAX_BYTES - most.readableBytes() - 4;
        most.writeByte(5).writeShort(rest).writeZero(rest).writeByte(6);
        assertThat(most.readableBytes()).isEqualTo(ViciMessageCodec.MAX_BYTES);
        assertThat(ViciMessageCodec.read(most.duplicate()).elements()).hasSize(1);
        assertThatThrownBy(() -> ViciMessageCodec.read(most.writeByte(6)))
                .isInstanceOf(Malformed.class)
                .hasMessageContaining("524289 bytes");
    }

    @Test
    void names_and_values_have_their_longest() {
        String longest = "n".repeat(255);
        assertThat(ViciMessage.empty().with(longest, "x").text(longest)).isEqualTo("x");
        assertThatThrownBy(() -> ViciMessage.empty().with(longest + "n", "x"))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> ViciMessage.empty().with("new\nline", "x"))
                .isInstanceOf(IllegalArgumentException.class);
        ViciMessageCodec.write(ViciMessage.empty().with("v", "x".repeat(0xffff)), Unpooled.buffer());
        assertThatThrownBy(() ->
                        ViciMessageCodec.write(ViciMessage.empty().with("v", "x".repeat(0x10000)), Unpooled.buffer()))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /** Recorded packets with bytes changed, cut out, doubled: a packet or a refusal, nothing else, and round trips. */
    @Test
    void a_damaged_message_is_read_or_refused() throws Exception {
        Random random = new Random(20261121);
        int refused = 0;
        int taken = 0;
        for (Path file : recorded()) {
            byte[] packet = Files.readAllBytes(file);
            for (int i = 0; i < 3_000; i++) {
                ByteBuf damaged = damage(packet, random);
                try {
                    ViciPacket.read(damaged);
                    taken++;
                } catch (Malformed e) {
                    assertThat(e.getMessage()).hasSizeLessThan(1_000);
                    refused++;
                }
            }
        }
        assertThat(refused).isGreaterThan(1_000);
        assertThat(taken).isGreaterThan(1_000);
    }

    private static ByteBuf damage(byte[] packet, Random random) {
        ByteBuf damaged = Unpooled.copiedBuffer(packet);
        for (int n = random.nextInt(3); n >= 0; n--) {
            int at = random.nextInt(damaged.readableBytes());
            int length = Math.min(random.nextInt(8), damaged.readableBytes() - at);
            switch (random.nextInt(4)) {
                case 0 -> damaged.setByte(at, random.nextInt(256));
                case 1 -> damaged.setByte(at, random.nextInt(8));
                case 2 ->
                    damaged = Unpooled.copiedBuffer(
                            damaged.slice(0, at), damaged.slice(at + length, damaged.readableBytes() - at - length));
                default ->
                    damaged = Unpooled.copiedBuffer(
                            damaged.slice(0, at + length), damaged.slice(at, damaged.readableBytes() - at));
            }
            if (!damaged.isReadable()) {
                return damaged;
            }
        }
        return damaged;
    }

    private static ByteBuf nested(int depth) {
        ByteBuf bytes = Unpooled.buffer();
        for (int i = 0; i < depth; i++) {
            bytes.writeByte(1).writeByte(1).writeByte('a');
        }
        return bytes.writeBytes("\2".repeat(depth).getBytes(StandardCharsets.US_ASCII));
    }

    private static String hex(String text) {
        return ByteBufUtil.hexDump(text.getBytes(StandardCharsets.US_ASCII));
    }
}
