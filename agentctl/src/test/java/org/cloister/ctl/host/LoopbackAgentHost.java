package org.cloister.ctl.host;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** agent-host's end of its socket: a test hears what is asked there, and answers what it likes. */
final class LoopbackAgentHost implements AutoCloseable {
    private final Path socket;
    private final ServerSocketChannel listener;

    /** One connection. */
    static final class Call implements AutoCloseable {
        private final SocketChannel channel;
        private final BufferedReader input;

        private Call(SocketChannel channel) {
            this.channel = channel;
            this.input =
                    new BufferedReader(new InputStreamReader(Channels.newInputStream(channel), StandardCharsets.UTF_8));
        }

        /** The next line. */
        String receive() throws IOException {
            return String.valueOf(input.readLine());
        }

        Call send(String line) throws IOException {
            channel.write(ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8)));
            return this;
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    LoopbackAgentHost(Path socket) throws IOException {
        this.socket = socket;
        this.listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(socket));
    }

    Call accept() throws IOException {
        return new Call(listener.accept());
    }

    @Override
    public void close() throws IOException {
        listener.close();
        Files.deleteIfExists(socket);
    }
}
