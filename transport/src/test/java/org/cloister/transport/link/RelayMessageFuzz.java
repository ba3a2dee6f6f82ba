package org.cloister.transport.link;

import com.code_intelligence.jazzer.junit.FuzzTest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.link.RelayMessage;

/** Any bytes that a relay sends on an attach stream give a message that reads back as itself, or a typed error. */
class RelayMessageFuzz {
    @FuzzTest(maxDuration = "60s")
    void relays_messages_end_in_a_value_or_a_typed_error(byte[] bytes) throws Exception {
        try {
            RelayMessage message = RelayMessage.read(bytes);
            if (!RelayMessage.read(message.wire().toByteArray()).equals(message)) {
                throw new IllegalStateException("reads back otherwise: " + message);
            }
        } catch (MalformedException e) {
            AgentMessageFuzz.requireText(e);
        }
    }
}
