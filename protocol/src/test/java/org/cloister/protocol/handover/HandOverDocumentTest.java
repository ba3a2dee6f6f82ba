package org.cloister.protocol.handover;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.protocol.identity.Role;
import org.junit.jupiter.api.Test;

/** What docs/protocol.md says of booting VMs in sections 3, 10 and 11 is what the code does. */
class HandOverDocumentTest {
    private final String page = Files.readString(Path.of(System.getProperty("cloister.root"), "docs", "protocol.md"));
    private final Map<String, String> vectors = vectors(page);

    HandOverDocumentTest() throws IOException {}

    @Test
    void the_assignment_is_the_examples() throws Exception {
        String project = vector("project");
        AssignmentMessage.Told told = new AssignmentMessage.Told(
                SlotName.of(BootWorld.TICKET, 3, Role.WORKER, project),
                BootWorld.TICKET,
                3,
                SlotName.of(BootWorld.OPENING, 0, Role.CONTROLLER, project),
                List.of(document("genesis"), document("successor")));
        byte[] message = told.wire().toByteArray();
        assertThat(Base64.getEncoder().encodeToString(message)).isEqualTo(vector("assignment"));
        assertThat(AssignmentMessage.readAnswer(message)).isEqualTo(told);
        Assignment assignment = Assignment.of(told);
        assertThat(assignment.project().id()).isEqualTo(project);
        assertThat(assignment.project().number()).isEqualTo(1);
    }

    private ByteString document(String name) {
        return ByteString.copyFrom(vector(name), UTF_8);
    }

    private String vector(String name) {
        return Objects.requireNonNull(vectors.get(name), name);
    }

    private static Map<String, String> vectors(String page) {
        Map<String, String> vectors = new HashMap<>();
        Matcher line =
                Pattern.compile("^([a-z0-9-]+): (\\S+)$", Pattern.MULTILINE).matcher(page);
        while (line.find()) {
            vectors.put(line.group(1), line.group(2));
        }
        return vectors;
    }
}
