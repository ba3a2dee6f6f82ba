package org.cloister.ovs.ovsdb;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.netty.channel.ChannelHandler;
import io.netty.handler.codec.json.JsonObjectDecoder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.cloister.ovs.io.OvsException.Malformed;
import org.jspecify.annotations.Nullable;

/** Messages of JSON-RPC 1.0 as RFC 7047, section 4, uses it, read with limits. */
public final class JsonRpc {
    /** The largest message is the first copy of the rows: about 2 KB for each port, of which a host has hundreds. */
    public static final int MAX_BYTES = 16 << 20;

    private static final int MAX_DEPTH = 32;
    private static final int MAX_STRING = 1 << 20;
    private static final int MAX_NUMBER = 32;

    static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private static final ObjectReader READER = JsonMapper.builder(JsonFactory.builder()
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxDocumentLength(MAX_BYTES)
                            .maxNestingDepth(MAX_DEPTH)
                            .maxStringLength(MAX_STRING)
                            .maxNumberLength(MAX_NUMBER)
                            .build())
                    .build())
            .build()
            .reader()
            .with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

    private JsonRpc() {}

    /** Splits a stream into messages. */
    static ChannelHandler frames() {
        return new JsonObjectDecoder(MAX_BYTES);
    }

    /** A message that a server may send. */
    public sealed interface Message {
        /** A request of the server: it only sends {@code echo}. */
        record Request(JsonNode id, String method, JsonNode params) implements Message {}

        record Notification(String method, JsonNode params) implements Message {}

        /** @param error null when there is no error */
        record Reply(JsonNode id, JsonNode result, @Nullable JsonNode error) implements Message {}
    }

    public static Message read(byte[] bytes) throws Malformed {
        JsonNode node;
        try {
            node = READER.readTree(bytes);
        } catch (JsonProcessingException e) {
            throw new Malformed("JSON-RPC message", "JSON", e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw new Malformed("JSON-RPC message", "JSON", String.valueOf(e.getMessage()), e);
        }
        if (!node.isObject()) {
            throw new Malformed("JSON-RPC message", "an object", node.toString());
        }
        JsonNode id = present(node.get("id"));
        if (node.has("method")) {
            JsonNode method = node.get("method");
            JsonNode params = present(node.get("params"));
            if (!method.isTextual() || !params.isArray()) {
                throw new Malformed("JSON-RPC request", "a method's name and a list of parameters", node.toString());
            }
            return id.isNull()
                    ? new Message.Notification(method.textValue(), params)
                    : new Message.Request(id, method.textValue(), params);
        }
        if (!node.has("result") && !node.has("error")) {
            throw new Malformed("JSON-RPC message", "a method or a result", node.toString());
        }
        JsonNode error = present(node.get("error"));
        return new Message.Reply(id, present(node.get("result")), error.isNull() ? null : error);
    }

    static byte[] request(long id, String method, ArrayNode params) {
        ObjectNode node = NODES.objectNode();
        node.put("id", id);
        node.put("method", method);
        node.set("params", params);
        return bytes(node);
    }

    /**
     * Returns an echo request. Its id is not a number, so its response cannot be mistaken for that of another request.
     */
    static byte[] echo() {
        ObjectNode node = NODES.objectNode();
        node.put("id", "echo");
        node.put("method", "echo");
        node.set("params", NODES.arrayNode());
        return bytes(node);
    }

    static byte[] reply(JsonNode id, JsonNode result) {
        ObjectNode node = NODES.objectNode();
        node.set("id", id);
        node.set("result", result);
        node.set("error", NODES.nullNode());
        return bytes(node);
    }

    private static JsonNode present(@Nullable JsonNode node) {
        return node == null ? NullNode.instance : node;
    }

    private static byte[] bytes(ObjectNode node) {
        return node.toString().getBytes(StandardCharsets.UTF_8);
    }
}
