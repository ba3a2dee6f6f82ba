package org.cloister.lab;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** Transfers bytes over TCP as fast as possible, as a program that runs in the network of a machine of the lab. */
public final class TcpStream {
    private static final int PIECE = 1 << 16;

    private TcpStream() {}

    /**
     * Arguments: {@code take ADDRESS PORT}, which never ends, or {@code give ADDRESS PORT BYTES}, which prints seconds.
     */
    public static void main(String[] args) throws IOException {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getByName(args[1]), Integer.parseInt(args[2]));
        if (args[0].equals("take")) {
            receive(address);
        } else {
            System.out.println(send(address, Long.parseLong(args[3])));
        }
    }

    /** Receives forever, from one connection after the other. */
    public static void receive(InetSocketAddress address) throws IOException {
        ByteBuffer piece = ByteBuffer.allocateDirect(PIECE);
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(address);
            while (true) {
                try (SocketChannel from = server.accept()) {
                    while (from.read(piece.clear()) >= 0) {
                        // The data is discarded.
                    }
                    from.write(ByteBuffer.wrap(new byte[1]));
                }
            }
        }
    }

    /** Returns the seconds from the first byte until the other side confirms the last. */
    public static double send(InetSocketAddress address, long bytes) throws IOException {
        ByteBuffer piece = ByteBuffer.allocateDirect(PIECE);
        try (SocketChannel to = SocketChannel.open(address)) {
            to.setOption(StandardSocketOptions.TCP_NODELAY, true);
            long start = System.nanoTime();
            for (long left = bytes; left > 0; ) {
                left -= to.write(piece.clear().limit((int) Math.min(left, PIECE)));
            }
            to.shutdownOutput();
            if (to.read(ByteBuffer.allocate(1)) != 1) {
                throw new IOException("no answer from " + address);
            }
            return (System.nanoTime() - start) / 1e9;
        }
    }
}
