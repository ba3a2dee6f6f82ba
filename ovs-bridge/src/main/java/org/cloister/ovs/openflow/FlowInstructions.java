package org.cloister.ovs.openflow;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/**
 * Instructions of a flow (OpenFlow 1.4, sections 7.2.3 and 7.2.4). Compared as bytes, in the order in which a switch
 * reports them.
 */
public final class FlowInstructions {
    /** A flow without instructions. */
    public static final FlowInstructions DROP = new FlowInstructions(new ImmutableBytes(new byte[0]));

    private static final int GOTO_TABLE = 1;
    private static final int WRITE_METADATA = 2;
    private static final int APPLY_ACTIONS = 4;
    private static final int METER = 6;

    private static final int OUTPUT = 0;
    private static final int PUSH_VLAN = 17;
    private static final int POP_VLAN = 18;
    private static final int SET_FIELD = 25;

    private static final int ETHERTYPE_8021Q = 0x8100;

    private final ImmutableBytes bytes;

    FlowInstructions(ImmutableBytes bytes) {
        this.bytes = bytes;
    }

    /** An action list under construction, in the order of execution. */
    public static final class Sequence {
        private final ByteBuf out = Unpooled.buffer();

        private Sequence() {}

        /** Adds a meter; permitted only as the first instruction. */
        public Sequence meter(int id) {
            out.writeShort(METER).writeShort(8).writeInt(id);
            return this;
        }

        public Sequence popVlan() {
            out.writeShort(APPLY_ACTIONS).writeShort(16).writeZero(4);
            out.writeShort(POP_VLAN).writeShort(8).writeZero(4);
            return this;
        }

        public Sequence metadata(long metadata) {
            out.writeShort(WRITE_METADATA).writeShort(24).writeZero(4);
            out.writeLong(metadata).writeLong(-1);
            return this;
        }

        public FlowInstructions gotoTable(int table) {
            out.writeShort(GOTO_TABLE).writeShort(8).writeByte(table).writeZero(3);
            return finish();
        }

        public FlowInstructions output(int port) {
            out.writeShort(APPLY_ACTIONS).writeShort(24).writeZero(4);
            writeOutput(port);
            return finish();
        }

        public FlowInstructions outputTagged(int port, int vlan) {
            out.writeShort(APPLY_ACTIONS).writeShort(48).writeZero(4);
            out.writeShort(PUSH_VLAN).writeShort(8).writeShort(ETHERTYPE_8021Q).writeZero(2);
            out.writeShort(SET_FIELD).writeShort(16);
            out.writeInt(FlowMatch.header(0x8000, FlowMatch.VLAN_VID, false, 2))
                    .writeShort(FlowMatch.TAG_PRESENT | vlan);
            out.writeZero(6);
            writeOutput(port);
            return finish();
        }

        private void writeOutput(int port) {
            out.writeShort(OUTPUT).writeShort(16).writeInt(port).writeShort(0).writeZero(6);
        }

        private FlowInstructions finish() {
            byte[] all = new byte[out.readableBytes()];
            out.readBytes(all);
            return new FlowInstructions(new ImmutableBytes(all));
        }
    }

    public static Sequence first() {
        return new Sequence();
    }

    void write(ByteBuf out) {
        out.writeBytes(bytes.array());
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof FlowInstructions that && bytes.equals(that.bytes);
    }

    @Override
    public int hashCode() {
        return bytes.hashCode();
    }

    @Override
    public String toString() {
        return bytes.array().length == 0 ? "drop" : bytes.toString();
    }
}
