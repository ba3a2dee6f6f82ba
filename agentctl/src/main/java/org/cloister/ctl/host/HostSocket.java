package org.cloister.ctl.host;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.cloister.preflight.machine.UndeterminedException;
import picocli.CommandLine.Option;

/** Option for agent-host's control socket on this machine. */
public final class HostSocket {
    @Option(
            names = "--socket",
            paramLabel = "FILE",
            defaultValue = "/run/cloister/agent-host.sock",
            description = "Control socket of agent-host; default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // picocli sets it before use
    private Path socket;

    static ObjectNode request(String word) {
        return JsonNodeFactory.instance.objectNode().put("request", word);
    }

    HostConnection open() throws IOException {
        return HostConnection.open(socket);
    }

    ObjectNode ask(String word) throws IOException {
        return ask(request(word));
    }

    /** Sends one request and returns its answer. */
    ObjectNode ask(ObjectNode request) throws IOException {
        try (HostConnection connection = open()) {
            connection.send(request);
            Optional<ObjectNode> line = connection.receive();
            if (line.isPresent() && line.get().path("answer") instanceof ObjectNode answer) {
                return answer;
            }
            if (line.isPresent() && line.get().has("refused")) {
                throw refused(line.get().path("refused"));
            }
            throw new IOException(socket + ": want an answer of agent-host, have "
                    + (line.isPresent() ? "something else" : "none") + "; see systemctl status agent-host");
        }
    }

    private static UndeterminedException refused(JsonNode refusal) {
        String hint = refusal.path("hint").asText();
        return new UndeterminedException(
                refusal.path("text").asText(), hint.isEmpty() ? "see agentctl host status" : hint);
    }
}
