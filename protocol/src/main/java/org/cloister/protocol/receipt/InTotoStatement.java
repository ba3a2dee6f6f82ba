package org.cloister.protocol.receipt;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.ticket.Ticket;

/**
 * Frame of an in-toto statement, version 1 (github.com/in-toto/attestation), whose one subject is a ticket.
 *
 * @param ticket its id
 * @param digest of its payload
 */
record InTotoStatement(String ticket, Digest digest, StrictJson statement, StrictJson predicate) {
    /** The payload type of its envelope. */
    static final String TYPE = "application/vnd.in-toto+json";

    static final String STATEMENT = "https://in-toto.io/Statement/v1";

    static InTotoStatement read(byte[] payload, String predicateType, int maxBytes, int maxString)
            throws MalformedException {
        StrictJson json = StrictJson.read(payload, maxBytes, maxString);
        require(json, "_type", STATEMENT);
        require(json, "predicateType", predicateType);
        StrictJson subject = json.objects("subject", 1).get(0);
        String ticket = subject.text("name", Ticket.ID);
        StrictJson digests = subject.object("digest");
        Digest digest = digests.digest("sha256", Digest.Algorithm.SHA256);
        digests.requireNothingElse();
        subject.requireNothingElse();
        return new InTotoStatement(ticket, digest, json, json.object("predicate"));
    }

    /** Checks that no critical member is left; call it after all members were read. */
    void requireNothingCritical() throws MalformedException {
        predicate.requireNothingCritical();
        statement.requireNothingElse();
    }

    static byte[] write(String ticket, Digest digest, String predicateType, ObjectNode predicate) {
        ObjectNode json = JsonNodeFactory.instance.objectNode().put("_type", STATEMENT);
        json.putArray("subject")
                .addObject()
                .put("name", ticket)
                .putObject("digest")
                .put("sha256", digest.hex());
        json.put("predicateType", predicateType).set("predicate", predicate);
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static void require(StrictJson json, String key, String want) throws MalformedException {
        String have = json.text(key);
        if (!have.equals(want)) {
            throw new MalformedException(key + ": want " + want + ", have " + StrictJson.quoted(have));
        }
    }
}
