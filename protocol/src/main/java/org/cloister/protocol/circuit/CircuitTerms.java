package org.cloister.protocol.circuit;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import java.util.HexFormat;
import java.util.OptionalInt;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.circuit.wire.Hello;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.link.CriticalFields;
import org.cloister.protocol.link.ProtocolVersions;

/**
 * Terms of a circuit as one end knows them, from the relay or from its own request. Both ends repeat them inside the
 * circuit.
 *
 * @param policy SHA-384 of the policy with which the opener appraises
 */
public record CircuitTerms(CertificateName from, CertificateName to, Digest policy) {
    public Hello hello(ProtocolVersions ours) {
        return Hello.newBuilder()
                .setLowest(ours.lowest())
                .setHighest(ours.highest())
                .setPolicy(ByteString.copyFrom(HexFormat.of().parseHex(policy.hex())))
                .setFrom(from.toString())
                .setTo(to.toString())
                .build();
    }

    public static Hello readHello(byte[] bytes) throws MalformedException {
        try {
            Hello hello = Hello.parseFrom(bytes);
            CriticalFields.require(hello.getCriticalList(), Hello.TO_FIELD_NUMBER);
            return hello;
        } catch (InvalidProtocolBufferException e) {
            throw new MalformedException("hello: " + e.getMessage(), e);
        }
    }

    /**
     * Compares these terms with the other end's hello and chooses the version.
     *
     * @param own this end, for the error
     * @return the version that both ends speak
     * @throws CircuitException if the other end has other terms, or speaks no version of ours
     */
    public int agree(Hello theirs, ProtocolVersions ours, CircuitClose.Side own) throws CircuitException {
        Hello expected = hello(ours);
        if (!theirs.getPolicy().equals(expected.getPolicy())) {
            throw swapped("policy", own);
        }
        if (!theirs.getFrom().equals(expected.getFrom()) || !theirs.getTo().equals(expected.getTo())) {
            throw swapped("names", own);
        }
        int lowest = theirs.getLowest();
        int highest = theirs.getHighest();
        if (lowest < 1 || highest < lowest || highest > 99_999) {
            throw new CircuitException(
                    "circuit to " + to + ": hello with the versions " + Integer.toUnsignedString(lowest) + "-"
                            + Integer.toUnsignedString(highest),
                    new CircuitClose(own, CloseReason.PROTOCOL));
        }
        OptionalInt version = ours.choose(new ProtocolVersions(lowest, highest));
        return version.orElseThrow(() -> new CircuitException(
                "circuit to " + to + ": here are versions " + ours + ", there " + lowest + "-" + highest
                        + "; update the older side",
                new CircuitClose(own, CloseReason.VERSION)));
    }

    private CircuitException swapped(String what, CircuitClose.Side own) {
        return new CircuitException(
                "circuit to " + to + ": the other end was told another " + what + " than this one; the relay is lying",
                new CircuitClose(own, CloseReason.PROTOCOL));
    }
}
