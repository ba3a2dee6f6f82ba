package org.cloister.ovs.openflow;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.util.List;
import java.util.Map;
import org.cloister.ovs.io.OvsException.Malformed;

/** Messages of a switch that this client requests or must answer. */
sealed interface OpenFlowMessage {
    /** The only message that may have another version: it states the highest that the switch speaks. */
    record Hello(int version) implements OpenFlowMessage {}

    record ErrorMessage(int type, int code) implements OpenFlowMessage {}

    /** A request that must be sent back. */
    record Echo(ImmutableBytes contents) implements OpenFlowMessage {}

    record BundleControl(int kind) implements OpenFlowMessage {}

    record Barrier() implements OpenFlowMessage {}

    /** A notification, sent without a request. */
    record PortStatusMessage(PortStatus status) implements OpenFlowMessage {}

    /** A response of several messages, all of the same kind; the last one is marked as such. */
    sealed interface MultipartReply extends OpenFlowMessage {
        boolean isLast();
    }

    record Flows(List<FlowStats> flows, boolean isLast) implements MultipartReply {
        public Flows {
            flows = List.copyOf(flows);
        }
    }

    /** @param ports numbers by device */
    record Ports(Map<String, Integer> ports, boolean isLast) implements MultipartReply {
        public Ports {
            ports = Map.copyOf(ports);
        }
    }

    record Meters(List<FlowMeter> meters, boolean isLast) implements MultipartReply {
        public Meters {
            meters = List.copyOf(meters);
        }
    }

    /** A message that was not requested. */
    record UnusedMessage(int type) implements OpenFlowMessage {}

    /** @param xid of the request that it answers */
    record Received(int xid, OpenFlowMessage message) {}

    /** @param in one whole message, as {@link OpenFlowCodec#frames} splits them */
    static Received read(ByteBuf in) throws Malformed {
        OpenFlowCodec.require(in, OpenFlowCodec.HEADER, "message");
        int version = in.readUnsignedByte();
        int type = in.readUnsignedByte();
        in.skipBytes(2);
        int xid = in.readInt();
        if (type == OpenFlowCodec.HELLO) {
            return new Received(xid, new Hello(version));
        }
        if (version != OpenFlowCodec.VERSION) {
            throw new Malformed("OpenFlow message", "version " + OpenFlowCodec.VERSION, "version " + version);
        }
        return new Received(xid, body(type, in));
    }

    private static OpenFlowMessage body(int type, ByteBuf in) throws Malformed {
        switch (type) {
            case OpenFlowCodec.ERROR -> {
                OpenFlowCodec.require(in, 4, "error");
                return new ErrorMessage(in.readUnsignedShort(), in.readUnsignedShort());
            }
            case OpenFlowCodec.ECHO_REQUEST -> {
                return new Echo(new ImmutableBytes(ByteBufUtil.getBytes(in)));
            }
            case OpenFlowCodec.PORT_STATUS -> {
                return new PortStatusMessage(OpenFlowCodec.readPortStatus(in));
            }
            case OpenFlowCodec.BARRIER_REPLY -> {
                return new Barrier();
            }
            case OpenFlowCodec.BUNDLE_CONTROL -> {
                OpenFlowCodec.require(in, 8, "bundle control");
                return new BundleControl(in.skipBytes(4).readUnsignedShort());
            }
            case OpenFlowCodec.MULTIPART_REPLY -> {
                OpenFlowCodec.require(in, 8, "multipart");
                int kind = in.readUnsignedShort();
                boolean isLast = (in.readUnsignedShort() & 1) == 0;
                return part(kind, isLast, in.skipBytes(4));
            }
            default -> {
                return new UnusedMessage(type);
            }
        }
    }

    private static OpenFlowMessage part(int kind, boolean isLast, ByteBuf in) throws Malformed {
        return switch (kind) {
            case OpenFlowCodec.FLOWS -> new Flows(OpenFlowCodec.readFlows(in), isLast);
            case OpenFlowCodec.PORTS -> new Ports(OpenFlowCodec.readPorts(in), isLast);
            case OpenFlowCodec.METERS -> new Meters(OpenFlowCodec.readMeters(in), isLast);
            default -> throw new Malformed("OpenFlow multipart", "flows, ports or meters", "kind " + kind);
        };
    }
}
