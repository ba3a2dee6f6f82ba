package org.cloister.vm.rpcfilter;

import java.nio.ByteBuffer;

/**
 * Header of a Slurm message, sent in clear before the sender's credential: the length of what follows, then version,
 * flags, type, length of the body, the number of nodes to which it is to be forwarded, and the number of answers it
 * collects. In a message that is not forwarded and has no answers, these fields have the same offsets from Slurm 22.05
 * to 26.05.
 *
 * @param length bytes that follow the length itself
 * @param version of Slurm's protocol
 * @param type Slurm's number of it
 */
public record SlurmMessageHeader(
        long length, int version, int flags, int type, long bodyLength, int forwards, int answers) {
    /** Bytes of the length field. */
    static final int LENGTH_BYTES = 4;
    /** Bytes from the length field to the number of answers. */
    static final int BYTES = 18;
    /** Smallest permitted value of the length field: the header's bytes that follow it. */
    static final int LEAST_LENGTH = BYTES - LENGTH_BYTES;

    /**
     * Reads the fields without checking them; {@link RpcHeaderPolicy} does.
     *
     * @param bytes {@link #BYTES} or more, in network order
     */
    public static SlurmMessageHeader decode(ByteBuffer bytes) {
        if (bytes.remaining() < BYTES) {
            throw new IllegalArgumentException("header: expected " + BYTES + " bytes, got " + bytes.remaining());
        }
        return new SlurmMessageHeader(
                Integer.toUnsignedLong(bytes.getInt()),
                Short.toUnsignedInt(bytes.getShort()),
                Short.toUnsignedInt(bytes.getShort()),
                Short.toUnsignedInt(bytes.getShort()),
                Integer.toUnsignedLong(bytes.getInt()),
                Short.toUnsignedInt(bytes.getShort()),
                Short.toUnsignedInt(bytes.getShort()));
    }
}
