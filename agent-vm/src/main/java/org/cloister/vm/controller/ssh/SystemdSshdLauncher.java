package org.cloister.vm.controller.ssh;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/**
 * Runs sessions as units of their own, which systemd starts for each connection to its socket: without the agent's
 * limits and capabilities, and accounted separately from it.
 */
public record SystemdSshdLauncher(Path socket) implements SshdLauncher {
    @Override
    public Streams start() throws IOException {
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            channel.connect(UnixDomainSocketAddress.of(socket));
        } catch (IOException e) {
            channel.close();
            throw new IOException(socket + ": " + e.getMessage() + "; systemctl status cloister-session.socket", e);
        }
        return new Streams(new SocketInput(channel), new SocketOutput(channel));
    }

    /** Unlike the streams of java.nio.channels.Channels, where a blocked read also blocks writes to the same socket. */
    private static final class SocketInput extends InputStream {
        private final SocketChannel channel;

        SocketInput(SocketChannel channel) {
            this.channel = channel;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] bytes, int from, int length) throws IOException {
            return channel.read(ByteBuffer.wrap(bytes, from, length));
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    /** Closes this direction only. */
    private static final class SocketOutput extends OutputStream {
        private final SocketChannel channel;

        SocketOutput(SocketChannel channel) {
            this.channel = channel;
        }

        @Override
        public void write(int one) throws IOException {
            write(new byte[] {(byte) one}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int from, int length) throws IOException {
            ByteBuffer all = ByteBuffer.wrap(bytes, from, length);
            while (all.hasRemaining()) {
                channel.write(all);
            }
        }

        @Override
        public void close() throws IOException {
            if (channel.isOpen()) {
                channel.shutdownOutput();
            }
        }
    }
}
