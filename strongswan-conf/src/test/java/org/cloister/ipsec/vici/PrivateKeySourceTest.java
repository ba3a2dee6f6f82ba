package org.cloister.ipsec.vici;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class PrivateKeySourceTest {
    /** A "key" that can be seen in a dump. */
    private record Marked(int length, int written) implements PrivateKeySource {
        @Override
        public void writeTo(ByteBuffer target) {
            byte[] bytes = new byte[written];
            Arrays.fill(bytes, (byte) 0x5e);
            target.put(bytes);
        }
    }

    @Test
    void is_a_command_in_native_memory_like_any_other_until_it_is_erased() throws Exception {
        ByteBuf packet = PrivateKeySource.loadKey(new Marked(300, 300)).retain();
        assertThat(packet.isDirect()).isTrue();
        assertThat(packet.hasArray()).isFalse();
        assertThat(packet.writableBytes()).isZero();
        assertThat(packet.getInt(0)).isEqualTo(packet.readableBytes() - 4);
        ViciPacket.FromClient read =
                (ViciPacket.FromClient) ViciPacket.read(packet.slice(4, packet.readableBytes() - 4));
        assertThat(read.name()).isEqualTo("load-key");
        assertThat(read.message().text("type")).isEqualTo("any");
        assertThat(read.message().blob("data")).hasSize(300).containsOnly(0x5e);
        PrivateKeySource.erase(packet);
        byte[] after = new byte[packet.capacity()];
        packet.getBytes(0, after);
        assertThat(after).containsOnly(0);
        packet.release();
    }

    @Test
    void that_fails_is_the_callers_error() {
        ByteBuffer[] room = new ByteBuffer[1];
        PrivateKeySource failing = new PrivateKeySource() {
            @Override
            public int length() {
                return 100;
            }

            @Override
            public void writeTo(ByteBuffer target) {
                room[0] = target;
                throw new IllegalStateException("locked memory is gone");
            }
        };
        assertThatThrownBy(() -> PrivateKeySource.loadKey(failing)).isInstanceOf(IllegalStateException.class);
        assertThat(room[0].isDirect()).isTrue();
    }

    @Test
    void that_writes_less_than_it_said_is_refused() {
        assertThatThrownBy(() -> PrivateKeySource.loadKey(new Marked(300, 299)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("want 300 bytes, have 1 fewer");
    }
}
