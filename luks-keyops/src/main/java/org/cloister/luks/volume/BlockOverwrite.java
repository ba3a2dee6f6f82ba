package org.cloister.luks.volume;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.cloister.luks.volume.VolumeException.Fault;

/** Overwrites a part of a device and waits until the device has written it. */
final class BlockOverwrite {
    static final Path ZEROS = Path.of("/dev/zero");
    static final Path NOISE = Path.of("/dev/urandom");

    private static final int PIECE = 1 << 20;

    private BlockOverwrite() {}

    /** @param source an endless file from which the bytes are read */
    static void overwrite(Path source, Path device, long from, long to) throws VolumeException {
        ByteBuffer piece = ByteBuffer.allocateDirect(PIECE);
        try (FileChannel in = FileChannel.open(source, StandardOpenOption.READ);
                FileChannel out = FileChannel.open(device, StandardOpenOption.WRITE)) {
            for (long at = from; at < to; ) {
                piece.clear().limit((int) Math.min(PIECE, to - at));
                while (piece.hasRemaining()) {
                    if (in.read(piece) < 0) {
                        throw new EOFException(source + ": ended");
                    }
                }
                piece.flip();
                while (piece.hasRemaining()) {
                    at += out.write(piece, at);
                }
            }
            out.force(true);
        } catch (IOException e) {
            throw failed(device, e);
        }
    }

    /** Returns the offset of the first non-zero byte, or {@code to} if all bytes are zero. */
    static long firstNonZero(Path device, long to) throws VolumeException {
        ByteBuffer piece = ByteBuffer.allocateDirect(PIECE);
        ByteBuffer zeros = ByteBuffer.allocateDirect(PIECE);
        try (FileChannel in = FileChannel.open(device, StandardOpenOption.READ)) {
            for (long at = 0; at < to; at += piece.limit()) {
                piece.clear().limit((int) Math.min(PIECE, to - at));
                if (in.read(piece, at) < 0) {
                    throw new EOFException(device + ": ended at byte " + at);
                }
                piece.flip();
                int other = piece.mismatch(zeros.clear().limit(piece.limit()));
                if (other >= 0) {
                    return at + other;
                }
            }
            return to;
        } catch (IOException e) {
            throw failed(device, e);
        }
    }

    private static VolumeException failed(Path device, IOException cause) {
        VolumeException failure = new VolumeException.CallFailed(
                new Fault("overwrite", device.toString(), 0, "", String.valueOf(cause.getMessage())));
        failure.initCause(cause);
        return failure;
    }
}
