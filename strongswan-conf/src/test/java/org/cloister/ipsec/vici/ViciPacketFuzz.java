package org.cloister.ipsec.vici;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.cloister.ipsec.vici.IpsecException.Malformed;

/** Any bytes from the socket give a packet or a {@link Malformed}; and a packet that was read is written the same. */
class ViciPacketFuzz {
    @FuzzTest(maxDuration = "60s")
    void reads_packets(byte[] bytes) {
        ViciPacket packet;
        try {
            packet = ViciPacket.read(Unpooled.wrappedBuffer(bytes));
        } catch (Malformed e) {
            if (e.getMessage() == null || e.getMessage().length() > 1_000) {
                throw new IllegalStateException("not a message for an operator", e);
            }
            return;
        }
        if (packet instanceof ViciPacket.Response response) {
            ByteBuf again = Unpooled.buffer().writeByte(ViciPacket.CMD_RESPONSE);
            ViciMessageCodec.write(response.message(), again);
            if (!again.equals(Unpooled.wrappedBuffer(bytes))) {
                throw new IllegalStateException("read and written differ");
            }
        }
    }
}
