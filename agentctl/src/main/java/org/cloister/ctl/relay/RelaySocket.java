package org.cloister.ctl.relay;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Option for the relay's control socket for operators, and its client: one request, one answer. */
public final class RelaySocket {
    private static final int MAX_BYTES = 64 << 20;

    @Option(
            names = "--socket",
            paramLabel = "FILE",
            defaultValue = "/run/cloister/relay/agent-relay.sock",
            description = "Socket of agent-relay for operators; default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // picocli sets it before use
    private Path socket;

    private record Reply(String status, String body) {
        boolean isGood() {
            return status.startsWith("HTTP/1.1 200 ");
        }
    }

    public ObjectNode ask(String path) throws IOException {
        Reply reply = exchange("GET", path, new byte[0]);
        if (!reply.isGood()) {
            throw new IOException(socket + ": want an answer of agent-relay, have \"" + reply.status + "\"");
        }
        try {
            JsonNode tree = JsonMapper.builder()
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                    .build()
                    .readTree(reply.body);
            if (tree instanceof ObjectNode document) {
                return document;
            }
        } catch (JsonProcessingException e) {
            throw new IOException(socket + ": want JSON of agent-relay, have something else", e);
        }
        throw new IOException(socket + ": want an object of agent-relay, have another value");
    }

    /**
     * Delivers a document.
     *
     * @return the relay's description of the document
     */
    String deliver(byte[] content) throws IOException {
        return post("/deliveries", content);
    }

    /**
     * Sends a POST request.
     *
     * @return the text of the relay's answer
     */
    String post(String path, byte[] content) throws IOException {
        Reply reply = exchange("POST", path, content);
        if (!reply.isGood()) {
            throw new IOException(reply.body.strip());
        }
        return reply.body.strip();
    }

    private Reply exchange(String method, String path, byte[] content) throws IOException {
        SocketChannel channel;
        try {
            channel = SocketChannel.open(UnixDomainSocketAddress.of(socket));
        } catch (IOException e) {
            throw new IOException(
                    socket + ": cannot connect to agent-relay: " + e.getMessage()
                            + "; see systemctl status agent-relay",
                    e);
        }
        try (channel;
                OutputStream out = Channels.newOutputStream(channel);
                InputStream in = Channels.newInputStream(channel)) {
            out.write((method + " " + path + " HTTP/1.1\r\nHost: relay\r\nConnection: close\r\nContent-Length: "
                            + content.length + "\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII));
            out.write(content);
            ByteArrayOutputStream answer = new ByteArrayOutputStream();
            byte[] piece = new byte[8192];
            for (int n = in.read(piece); n >= 0 && answer.size() <= MAX_BYTES; n = in.read(piece)) {
                answer.write(piece, 0, n);
            }
            return reply(answer.toString(StandardCharsets.UTF_8));
        }
    }

    private Reply reply(String answer) throws IOException {
        int body = answer.indexOf("\r\n\r\n");
        if (body < 0) {
            throw new IOException(socket + ": want an answer of agent-relay, have something else");
        }
        return new Reply(answer.lines().findFirst().orElse("nothing"), answer.substring(body + 4));
    }
}
