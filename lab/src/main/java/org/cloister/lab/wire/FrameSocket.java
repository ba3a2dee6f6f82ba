package org.cloister.lab.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;

/**
 * Sends and receives whole Ethernet frames as a machine does: on a device of its network namespace, or as the machine
 * behind a tap, in the place of QEMU. A socket stays in the namespace in which it was opened, so the JVM need not be in
 * it.
 */
public final class FrameSocket implements AutoCloseable {
    private static final int O_RDONLY = 0;
    private static final int O_RDWR_NONBLOCK = 2 | 0x800;
    private static final long TUNSETIFF = 0x400454ca;
    private static final int IFF_TAP_NO_PI = 0x1002;
    private static final int CLONE_NEWNET = 0x40000000;
    private static final int AF_PACKET = 17;
    private static final int SOCK_RAW_NONBLOCK = 3 | 0x800;
    private static final int ETH_P_ALL = 3;
    private static final int SOL_SOCKET = 1;
    private static final int SO_RCVBUFFORCE = 33;
    private static final int SOL_PACKET = 263;
    private static final int PACKET_IGNORE_OUTGOING = 23;
    private static final int RECEIVE_BUFFER = 16 << 20;
    private static final int MAX_FRAME = 2048;

    private final int fd;

    private FrameSocket(int fd) {
        this.fd = fd;
    }

    /** @param namespace a file such as {@code /proc/PID/ns/net} */
    public static FrameSocket open(Path namespace, String device) throws IOException {
        return inside(namespace, device, () -> device(namespace, device));
    }

    /** Creates the tap, which is deleted with the socket. */
    public static FrameSocket tap(Path namespace, String device) throws IOException {
        return inside(namespace, device, () -> tap(device));
    }

    private static FrameSocket inside(Path namespace, String device, Callable<FrameSocket> open) throws IOException {
        // Namespaces belong to threads: the namespace of the calling thread is not changed.
        FutureTask<FrameSocket> opening = new FutureTask<>(() -> {
            int ns = check("open " + namespace, FrameLibC.LIB.open(namespace.toString(), O_RDONLY));
            check("setns " + namespace, FrameLibC.LIB.setns(ns, CLONE_NEWNET));
            FrameLibC.LIB.close(ns);
            return open.call();
        });
        Thread thread = new Thread(opening, "frames-" + device);
        thread.start();
        try {
            return opening.get();
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    public void send(byte[] frame) throws IOException {
        check("send", (int) FrameLibC.LIB.write(fd, frame, frame.length));
    }

    /** Returns the next received frame, or null when none is available. */
    public byte @Nullable [] receive() {
        byte[] buffer = new byte[MAX_FRAME];
        long length = FrameLibC.LIB.read(fd, buffer, buffer.length);
        return length < 0 ? null : Arrays.copyOf(buffer, (int) length);
    }

    @Override
    public void close() {
        FrameLibC.LIB.close(fd);
    }

    private static FrameSocket tap(String device) throws IOException {
        int fd = check("open /dev/net/tun", FrameLibC.LIB.open("/dev/net/tun", O_RDWR_NONBLOCK));
        ByteBuffer request = ByteBuffer.allocate(40).order(ByteOrder.LITTLE_ENDIAN);
        request.put(device.getBytes(StandardCharsets.US_ASCII)).putShort(16, (short) IFF_TAP_NO_PI);
        check("tap " + device, FrameLibC.LIB.ioctl(fd, TUNSETIFF, request.array()));
        return new FrameSocket(fd);
    }

    private static FrameSocket device(Path namespace, String device) throws IOException {
        int all = Short.reverseBytes((short) ETH_P_ALL) & 0xffff;
        int index = FrameLibC.LIB.if_nametoindex(device);
        if (index == 0) {
            throw new IOException("device " + device + ": not in " + namespace);
        }
        int fd = check("socket", FrameLibC.LIB.socket(AF_PACKET, SOCK_RAW_NONBLOCK, 0));
        option(fd, SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER);
        option(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1);
        ByteBuffer address = ByteBuffer.allocate(20).order(ByteOrder.LITTLE_ENDIAN);
        address.putShort((short) AF_PACKET).putShort((short) all).putInt(index);
        check("bind to " + device, FrameLibC.LIB.bind(fd, address.array(), address.capacity()));
        return new FrameSocket(fd);
    }

    private static void option(int fd, int level, int name, int value) throws IOException {
        byte[] bytes = ByteBuffer.allocate(4)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(value)
                .array();
        check("setsockopt " + name, FrameLibC.LIB.setsockopt(fd, level, name, bytes, bytes.length));
    }

    private static int check(String call, int result) throws IOException {
        if (result < 0) {
            throw new IOException(call + ": failed; are we root?");
        }
        return result;
    }
}
