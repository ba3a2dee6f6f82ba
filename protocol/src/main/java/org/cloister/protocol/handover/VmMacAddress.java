package org.cloister.protocol.handover;

import com.google.protobuf.ByteString;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.cloister.protocol.ticket.ProjectAddress;

/** Hardware address of a VM's interface: an individual address, not a group address. */
public record VmMacAddress(ByteString bytes) {
    private static final int LENGTH = 6;
    /** Prefix of QEMU's own addresses. */
    private static final short QEMU = 0x5254;

    /** @throws IllegalArgumentException if it is not an individual address */
    public VmMacAddress {
        HandoverChecks.that(bytes.size() == LENGTH, "MAC", LENGTH + " bytes", bytes.size());
        HandoverChecks.that(
                (bytes.byteAt(0) & 1) == 0 && !bytes.equals(ByteString.copyFrom(new byte[LENGTH])),
                "MAC",
                "one station's",
                "a group's or none");
    }

    /** Returns the hardware address for an IPv4 address, so that each VM's follows from its IPv4 address. */
    public static VmMacAddress of(ProjectAddress address) {
        return new VmMacAddress(ByteString.copyFrom(ByteBuffer.allocate(LENGTH)
                .putShort(QEMU)
                .putInt(address.bits())
                .flip()));
    }

    @Override
    public String toString() {
        return IntStream.range(0, LENGTH)
                .mapToObj(i -> String.format(Locale.ROOT, "%02x", bytes.byteAt(i)))
                .collect(Collectors.joining(":"));
    }
}
