package org.cloister.lab.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.cloister.lab.Lab;
import org.cloister.lab.LabHost;

/**
 * Captures every frame that arrives at either end of a cable, before any rule, searches it for a marker and classifies
 * it.
 */
public final class Wiretap implements AutoCloseable {
    /**
     * Part of every packet of the project in these tests; it must not be found in encrypted ones. As long as ping's
     * patterns.
     */
    public static final String MARKER = "Cloister5e55101d";

    private final List<FrameSocket> sockets;
    private final AtomicBoolean ended = new AtomicBoolean();
    private final Thread reader = new Thread(this::read, "wiretap");
    private final AtomicLong clear = new AtomicLong();
    private final AtomicLong encrypted = new AtomicLong();
    private final AtomicLong strange = new AtomicLong();

    /** @param ends of the cable; closed with this */
    public Wiretap(List<FrameSocket> ends) {
        this.sockets = List.copyOf(ends);
        reader.start();
    }

    /** Returns a wiretap on the trunk, where all frames between hosts pass. */
    public static Wiretap trunk(Lab lab) throws IOException {
        List<FrameSocket> ends = new ArrayList<>();
        for (LabHost host : lab.hosts()) {
            ends.add(FrameSocket.open(Path.of("/proc", Long.toString(host.pid()), "ns/net"), "trunk0"));
        }
        return new Wiretap(ends);
    }

    /** Returns the number of frames with the marker. */
    public long clear() {
        return clear.get();
    }

    /** Returns the number of ESP packets, in UDP or by itself. */
    public long encrypted() {
        return encrypted.get();
    }

    /** Returns the number of frames that are neither ARP, IKE nor ESP. */
    public long strange() {
        return strange.get();
    }

    @Override
    public void close() {
        ended.set(true);
        try {
            reader.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        sockets.forEach(FrameSocket::close);
    }

    private void read() {
        while (!ended.get()) {
            for (FrameSocket socket : sockets) {
                for (byte[] frame = socket.receive(); frame != null; frame = socket.receive()) {
                    sort(frame);
                }
            }
            try {
                TimeUnit.MILLISECONDS.sleep(2);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    private void sort(byte[] frame) {
        if (new String(frame, StandardCharsets.ISO_8859_1).contains(MARKER)) {
            clear.incrementAndGet();
        }
        int type = frame.length < 14 ? 0 : ByteBuffer.wrap(frame).getShort(12) & 0xffff;
        if (type == 0x0806) {
            return;
        }
        if (type == 0x0800 && frame.length >= 34 && frame[23] == 50) {
            encrypted.incrementAndGet();
            return;
        }
        boolean udp = type == 0x0800 && frame.length >= 46 && frame[23] == 17;
        int port = udp ? ByteBuffer.wrap(frame).getShort(36) & 0xffff : 0;
        if (port == 4500 && ByteBuffer.wrap(frame).getInt(42) != 0) {
            encrypted.incrementAndGet();
        } else if (port != 500 && port != 4500) {
            strange.incrementAndGet();
        }
    }
}
