package org.cloister.ovs.openflow;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.util.List;
import java.util.Map;
import org.cloister.ovs.link.OvsException.Malformed;

/** What a switch may send, as far as anybody here asks for it or must answer it. */
sealed interface Message {
    /** The only one that may be of another version: it says the highest that the switch speaks. */
    record Hello(int version) implements Message {}

    record Failure(int type, int code) implements Message {}

    /** To be sent back. */
    record Echo(Bytes contents) implements Message {}

    record BundleControl(int kind) implements Message {}

    record Barrier() implements Message {}

    /** Told by itself. */
    record PortTold(PortStatus status) implements Message {}

    /** An answer of several messages: all of the same kind, the last one says so. */
    sealed interface Part extends Message {
        boolean isLast();
    }

    record Flows(List<FlowCount> flows, boolean isLast) implements Part {
        public Flows {
            flows = List.copyOf(flows);
        }
    }

    /** @param ports numbers by device */
    record Ports(Map<String, Integer> ports, boolean isLast) implements Part {
        public Ports {
            ports = Map.copyOf(ports);
        }
    }

    record Meters(List<Meter> meters, boolean isLast) implements Part {
        public Meters {
            meters = List.copyOf(meters);
        }
    }

    /** What nobody asked for. */
    record Other(int type) implements Message {}

    /** @param xid of the question that it answers */
    record Received(int xid, Message message) {}

    /** @param in one whole message, as {@link Wire#frames} cuts them */
    static Received read(ByteBuf in) throws Malformed {
        Wire.require(in, Wire.HEADER, "message");
        int version = in.readUnsignedByte();
        int type = in.readUnsignedByte();
        in.skipBytes(2);
        int xid = in.readInt();
        if (type == Wire.HELLO) {
            return new Received(xid, new Hello(version));
        }
        if (version != Wire.VERSION) {
            throw new Malformed("OpenFlow message", "version " + Wire.VERSION, "version " + version);
        }
        return new Received(xid, body(type, in));
    }

    private static Message body(int type, ByteBuf in) throws Malformed {
        switch (type) {
            case Wire.ERROR -> {
                Wire.require(in, 4, "error");
                return new Failure(in.readUnsignedShort(), in.readUnsignedShort());
            }
            case Wire.ECHO_REQUEST -> {
                return new Echo(new Bytes(ByteBufUtil.getBytes(in)));
            }
            case Wire.PORT_STATUS -> {
                return new PortTold(Wire.readPortStatus(in));
            }
            case Wire.BARRIER_REPLY -> {
                return new Barrier();
            }
            case Wire.BUNDLE_CONTROL -> {
                Wire.require(in, 8, "bundle control");
                return new BundleControl(in.skipBytes(4).readUnsignedShort());
            }
            case Wire.MULTIPART_REPLY -> {
                Wire.require(in, 8, "multipart");
                int kind = in.readUnsignedShort();
                boolean isLast = (in.readUnsignedShort() & 1) == 0;
                return part(kind, isLast, in.skipBytes(4));
            }
            default -> {
                return new Other(type);
            }
        }
    }

    private static Message part(int kind, boolean isLast, ByteBuf in) throws Malformed {
        return switch (kind) {
            case Wire.FLOWS -> new Flows(Wire.readFlows(in), isLast);
            case Wire.PORTS -> new Ports(Wire.readPorts(in), isLast);
            case Wire.METERS -> new Meters(Wire.readMeters(in), isLast);
            default -> throw new Malformed("OpenFlow multipart", "flows, ports or meters", "kind " + kind);
        };
    }
}
