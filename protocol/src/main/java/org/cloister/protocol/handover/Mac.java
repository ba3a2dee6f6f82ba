package org.cloister.protocol.handover;

import com.google.protobuf.ByteString;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The hardware address of a VM's interface: one station's, not the network's. */
public record Mac(ByteString bytes) {
    private static final int LENGTH = 6;

    /** @throws IllegalArgumentException if it is none */
    public Mac {
        Require.that(bytes.size() == LENGTH, "MAC", LENGTH + " bytes", bytes.size());
        Require.that(
                (bytes.byteAt(0) & 1) == 0 && !bytes.equals(ByteString.copyFrom(new byte[LENGTH])),
                "MAC",
                "one station's",
                "a group's or none");
    }

    @Override
    public String toString() {
        return IntStream.range(0, LENGTH)
                .mapToObj(i -> String.format(Locale.ROOT, "%02x", bytes.byteAt(i)))
                .collect(Collectors.joining(":"));
    }
}
