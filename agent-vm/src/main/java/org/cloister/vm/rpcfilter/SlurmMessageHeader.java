package org.cloister.vm.rpcfilter;

import java.nio.ByteBuffer;

/**
 * Beginning of a Slurm message, which stands in clear before the sender's credential: the length of what follows, then
 * version, flags, type, length of the body, how many nodes it is to be forwarded to, and how many answers it collects. Of a
 * message that is not forwarded and has no answers these fields have the same places from Slurm 22.05 to 26.05.
 *
 * @param length bytes that follow the length itself
 * @param version of Slurm's protocol
 * @param type Slurm's number of it
 */
public record SlurmMessageHeader(
        long length, int version, int flags, int type, long bodyLength, int forwards, int answers) {
    /** Of the length. */
    static final int LENGTH_BYTES = 4;
    /** From the length to the number of answers. */
    static final int BYTES = 18;
    /** In the message, behind the length. */
    static final int LEAST_LENGTH = BYTES - LENGTH_BYTES;

    /**
     * Reads the fields as they are; {@link RpcHeaderPolicy} judges them.
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
