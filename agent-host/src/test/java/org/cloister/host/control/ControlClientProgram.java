package org.cloister.host.control;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** A caller in a process of its own: says the lines of its standard input, and prints those that it hears. */
final class ControlClientProgram {
    private ControlClientProgram() {}

    /** @param args the socket */
    public static void main(String[] args) throws IOException {
        try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(args[0]))) {
            Thread teller = new Thread(() -> tell(channel), "teller");
            teller.setDaemon(true);
            teller.start();
            // Channels' streams share a lock: one that reads would keep the other from writing (JDK-8279339).
            ByteBuffer piece = ByteBuffer.allocate(8192);
            while (channel.read(piece) >= 0) {
                System.out.write(piece.array(), 0, piece.position());
                System.out.flush();
                piece.clear();
            }
        }
    }

    private static void tell(SocketChannel channel) {
        try {
            byte[] piece = new byte[8192];
            for (int n = System.in.read(piece); n >= 0; n = System.in.read(piece)) {
                channel.write(ByteBuffer.wrap(piece, 0, n));
            }
            channel.shutdownOutput();
        } catch (IOException e) {
            // The desk hung up, which the other thread hears.
            return;
        }
    }
}
