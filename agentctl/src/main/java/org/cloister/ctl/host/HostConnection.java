package org.cloister.ctl.host;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Connection to agent-host that carries one JSON object per line in both directions. One thread receives; any thread
 * may send. It uses the channel directly, because streams of a channel share a lock, and a receiver would block every
 * sender (JDK-8279339).
 */
final class HostConnection implements AutoCloseable {
    private static final int MAX_BYTES = 64 << 20;

    private final Path socket;
    private final SocketChannel channel;
    private final ByteBuffer piece = ByteBuffer.allocate(8192).flip();

    private HostConnection(Path socket, SocketChannel channel) {
        this.socket = socket;
        this.channel = channel;
    }

    static HostConnection open(Path socket) throws IOException {
        try {
            return new HostConnection(socket, SocketChannel.open(UnixDomainSocketAddress.of(socket)));
        } catch (IOException e) {
            throw new IOException(
                    socket + ": cannot connect to agent-host: " + e.getMessage() + "; see systemctl status agent-host",
                    e);
        }
    }

    void send(ObjectNode request) throws IOException {
        ByteBuffer line = ByteBuffer.wrap((request + "\n").getBytes(StandardCharsets.UTF_8));
        synchronized (channel) {
            while (line.hasRemaining()) {
                channel.write(line);
            }
        }
    }

    /**
     * Receives the next object.
     *
     * @return empty at the end of the connection
     * @throws IOException if the connection is lost, or the data is not agent-host's
     */
    Optional<ObjectNode> receive() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        while (line.size() <= MAX_BYTES) {
            while (piece.hasRemaining()) {
                byte next = piece.get();
                if (next == '\n') {
                    return Optional.of(object(line.toString(StandardCharsets.UTF_8)));
                }
                line.write(next);
            }
            piece.clear();
            boolean ended = channel.read(piece) < 0;
            piece.flip();
            if (ended) {
                return Optional.empty();
            }
        }
        throw new IOException(socket + ": want at most " + MAX_BYTES + " bytes of agent-host, have more");
    }

    private ObjectNode object(String line) throws IOException {
        try {
            JsonNode tree = JsonMapper.builder()
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                    .build()
                    .readTree(line);
            if (tree instanceof ObjectNode object) {
                return object;
            }
        } catch (JsonProcessingException e) {
            throw new IOException(socket + ": want JSON of agent-host, have something else", e);
        }
        throw new IOException(socket + ": want an object of agent-host, have another value");
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
